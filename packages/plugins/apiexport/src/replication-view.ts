import { defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { located } from "./access.ts";
import { ApiModel } from "./model/api-model.ts";
import type { ReplicationViewOptions } from "./options.ts";
import { CachedModel } from "./replication/cached-model.ts";
import { ReplicatedResources } from "./replication/replicated-resources.ts";
import { replicationAccess, sliceOf } from "./replication/replication-access.ts";
import { SchemaKinds } from "./served/kinds.ts";

/**
 * Returns kcp's view of cached resources, `/services/replication/<logical cluster of the slice>/<slice>/clusters/<logical cluster>`.
 * It shows the objects of a ClusterCachedResource, read-only, in each workspace of one shard that has bound the export of the
 * ClusterCachedResourceEndpointSlice. Such an export stores the resource in this view (`storage.virtual`), so that users read
 * the objects in their workspace.
 *
 * The objects are the provider's own, on any shard; there are no copies. The view calls both workspaces as an administrator, and
 * is ready after reading exports, schemas, bindings, ClusterCachedResources and their slices. Beside {@link apiExportView}, pass
 * the same {@link ApiModel} to both.
 *
 * @see docs/how-to/cached-resources.md
 */
export function replicationView(options: ReplicationViewOptions): VirtualWorkspace {
  const { upstream, everywhere = upstream, onError = warn } = options;
  const { model = new ApiModel(options) } = options;
  const cached = new CachedModel(model, { ...options, onError });
  const access = replicationAccess({ model, cached }, { ...options, onError });
  const resources = new ReplicatedResources({ model: cached, upstream: everywhere, kinds: new SchemaKinds(), onError });
  return defineVirtualWorkspace({
    name: "replication",
    path: "/:sliceCluster/:slice/clusters/:cluster",
    wildcard: true,
    locate: (cluster, { user }) => located(cluster, user),
    authorize: access.authorize,
    resources: ({ params }) => resources.of(sliceOf(params)),
    ready: () => cached.synced(),
    setup: () => {
      const held = cached.hold();
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
  process.emitWarning(`view of cached resources: ${String(error)}`);
}
