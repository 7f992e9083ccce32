import { defineVirtualWorkspace, type ServedResource, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { APIResourceSchema } from "@virtual-workspaces/kcp";
import { located } from "./located.ts";
import { ApiModel } from "./model/model.ts";
import type { ApiResourceSchemaViewOptions } from "./options.ts";
import { BoundSchemas } from "./schemas/bound-schemas.ts";
import { schemaAccess } from "./schemas/schema-access.ts";

/** Nothing that a workspace without bindings, or of another shard, has. */
const NOTHING: readonly ServedResource[] = Object.freeze([]);

/**
 * kcp's view of the APIResourceSchemas that a workspace has bound, `/services/apiresourceschema/<logical cluster>`, with or without
 * `/clusters/<the same, or *>` behind: what the exports of its bindings name, wherever that is, to read and to watch. For
 * those who must know what an API looks like that a workspace uses: whoever may get its APIBindings, says the workspace,
 * may read that, and need not be known to any provider.
 *
 * Over the workspaces of one shard, asked as one of its administrators. Beside {@link apiExportView} give both one
 * {@link ApiModel}. Ready once exports, schemas and bindings have been read.
 */
export function apiResourceSchemaView(options: ApiResourceSchemaViewOptions): VirtualWorkspace {
  const { upstream, model = new ApiModel(options), onError = warn } = options;
  const access = schemaAccess({ ...options, onError });
  const schemas = new BoundSchemas({ model, upstream, onError });
  const served = [APIResourceSchema.serve(schemas, { verbs: ["get", "list", "watch"] })];
  return defineVirtualWorkspace({
    name: "apiresourceschema",
    path: "/:cluster",
    clusterSuffix: true,
    locate: (cluster, { user }) => located(cluster, user),
    authorize: access.authorize,
    resources: ({ params }) => (model.bindings(params.cluster).length > 0 ? served : NOTHING),
    ready: () => model.synced(),
    setup: () => {
      const held = model.hold();
      return {
        [Symbol.asyncDispose]: async () => {
          await held[Symbol.asyncDispose]();
          await access[Symbol.asyncDispose]();
        },
      };
    },
  });
}

function warn(error: unknown): void {
  process.emitWarning(`view of bound APIResourceSchemas: ${String(error)}`);
}
