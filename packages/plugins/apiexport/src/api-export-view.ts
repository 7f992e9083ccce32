import { defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { exportAccess, exportOf } from "./access/access.ts";
import { throughExport } from "./identity.ts";
import { located } from "./located.ts";
import { ApiModel } from "./model/model.ts";
import type { ApiExportViewOptions } from "./options.ts";
import { ExportResources } from "./served/export-resources.ts";
import { claimableResources, SchemaKinds } from "./served/kinds.ts";

/**
 * kcp's view of APIExports, `/services/apiexport/<logical cluster of the export>/<export>/clusters/<logical cluster or *>`: what
 * the workspaces of one shard that have bound an export have of it, what they let its provider have besides, and their
 * bindings. For the provider, who need not be known in those workspaces: whoever may have `apiexports/content` of the export
 * reads all of it at once, and reads and writes what is in one workspace.
 *
 * Over the workspaces of a shard, asked as one of its administrators. Lists, watches and writes pass as bytes. One watch of
 * the server serves all who watch a resource of all workspaces. Ready once exports, schemas and bindings have been read.
 */
export function apiExportView(options: ApiExportViewOptions): VirtualWorkspace {
  const { upstream, identity, kinds = [], onError = warn } = options;
  const { model = new ApiModel(options) } = options;
  const access = exportAccess(model, options);
  const resources = new ExportResources({
    model,
    upstream,
    onError,
    identity: throughExport(identity),
    kinds: new SchemaKinds(),
    claimable: claimableResources(kinds),
  });
  return defineVirtualWorkspace({
    name: "apiexport",
    path: "/:exportCluster/:export/clusters/:cluster",
    wildcard: true,
    locate: (cluster, { user }) => located(cluster, user),
    authorize: access.authorize,
    resources: ({ params }) => resources.of(exportOf(params)),
    ready: () => model.synced(),
    setup: () => {
      const held = model.hold();
      return {
        [Symbol.asyncDispose]: async () => {
          await Promise.all([held[Symbol.asyncDispose](), resources[Symbol.asyncDispose]()]);
          await access[Symbol.asyncDispose]();
        },
      };
    },
  });
}

function warn(error: unknown): void {
  process.emitWarning(`view of APIExports: ${String(error)}`);
}
