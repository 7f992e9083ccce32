import { ApiError, WILDCARD } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  allow,
  defineVirtualWorkspace,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import type { ClusterParams } from "../authz/asked.ts";
import { inactive, isInactive } from "./installation.ts";
import { ServedOnce, servedFrom } from "./served-as.ts";
import type { Shard } from "./shard.ts";

/** What is served besides by a shard, and in each of its logical clusters. */
export interface ShardViewOptions {
  readonly documents: NonNullable<VirtualWorkspace<unknown>["documents"]>;
}

/** The logical clusters of a shard, under `/clusters/<name or path>`, and all of them at once under `/clusters/*`. */
export function clustersView(shard: Shard, { documents }: ShardViewOptions): VirtualWorkspace {
  const { installation, state, name } = shard.context;
  const isShut = (cluster: string): boolean => {
    const found = state.logicalCluster(cluster);
    return found !== undefined && isInactive(found);
  };
  const isThere = (cluster: string): boolean =>
    cluster === WILDCARD || cluster.startsWith("system:") || state.logicalCluster(cluster) !== undefined;
  const unwatched = new ServedOnce(withoutWatch);
  // Masters may ask where there is nothing; watches from when there was something end, as they do the other way round.
  const ofNobody = new ServedOnce((served) => servedFrom(served, {}));
  return defineVirtualWorkspace({
    name: "clusters",
    prefix: "/clusters",
    path: "/:cluster",
    wildcard: true,
    groupOrder: "listed",
    locate: (said) => installation.locate(said, name),
    authorize: (question) => {
      refuseShardLevel(question);
      const { cluster } = question.params;
      if (isShut(cluster) && !isOpen(question)) throw inactive(cluster);
      if (shard.homes?.isAsked(question)) return allow();
      return shard.authorizer(question);
    },
    resources: ({ params: { cluster } }) => {
      const all = shard.servedIn(cluster);
      const served = cluster === ROOT_CLUSTER ? (shard.homes?.in(all) ?? all) : all;
      if (isShut(cluster)) return unwatched.of(served);
      return isThere(cluster) ? served : ofNobody.of(served);
    },
    documents,
    ready: () => shard.started,
  });
}

/** For masters too: what is the process's own is not to look as if it were a workspace's. @throws ApiError 501 */
function refuseShardLevel({ isResource, path, params }: AuthorizeRequest<ClusterParams>): void {
  if (isResource || path !== "/metrics" || params.cluster === "*") return;
  const message = "shard-level endpoint not available at workspace scope";
  throw new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 501 });
}

const LOGICAL_CLUSTERS = "/apis/core.kcp.io/v1alpha1/logicalclusters";

/** Whether an inactive logical cluster answers all the same: it must be possible to make it active again. */
function isOpen({ path }: AuthorizeRequest<ClusterParams>): boolean {
  return path.startsWith("/openapi") || path.startsWith(LOGICAL_CLUSTERS);
}

/** Ends what is open: the framework ends watches on what can no longer be watched. */
function withoutWatch(resource: ServedResource): ServedResource {
  const { group, plural } = resource.definition;
  if (group === "core.kcp.io" && plural === "logicalclusters") return resource;
  return Object.freeze({ ...resource, verbs: resource.verbs.filter((verb) => verb !== "watch") });
}
