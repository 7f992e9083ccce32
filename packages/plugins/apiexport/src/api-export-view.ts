import { ApiError, isClusterName, WILDCARD } from "@virtual-workspaces/apimachinery";
import { defineVirtualWorkspace, type User, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp";
import { exportAccess, exportOf } from "./access/access.ts";
import { throughExport } from "./identity.ts";
import { Model } from "./model/model.ts";
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
  const model = new Model(options);
  const access = exportAccess(model, options);
  const resources = new ExportResources({
    ...{ model, upstream, onError, identity: throughExport(identity) },
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
    setup: ({ signal }) => {
      model.start(signal);
      return {
        [Symbol.asyncDispose]: async () => {
          await Promise.all([model[Symbol.asyncDispose](), resources[Symbol.asyncDispose]()]);
          await access[Symbol.asyncDispose]();
        },
      };
    },
  });
}

/** Names alone: where a path leads, another server may know. @throws ApiError 403, or 404 for who may see everything */
function located(cluster: string, user: User): string {
  if (cluster === WILDCARD || isClusterName(cluster)) return cluster;
  if (user.in(MASTERS_GROUP)) throw ApiError.notFoundPath();
  const message = "a logical cluster is called by its name here, not by its path";
  throw ApiError.forbidden({ resource: { group: "", resource: "" }, message });
}

function warn(error: unknown): void {
  process.emitWarning(`view of APIExports: ${String(error)}`);
}
