import { ApiError, WILDCARD } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  allow,
  type Decision,
  defineVirtualWorkspace,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { MASTERS_GROUP, ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import type { ClusterParams } from "../authz/asked.ts";
import { elsewhere, inactive, isInactive } from "./installation.ts";
import { ServedOnce, servedFrom } from "./served-as.ts";
import type { Shard } from "./shard.ts";

/** Logical clusters, and who answers for them. */
export interface Clusters {
  /** The logical cluster that is meant by a name or path. @throws ApiError as {@link Installation.locate} does */
  locate(said: string): string;
  /** The shard that answers for a logical cluster, or for all of them (`*`). @throws ApiError 503 when it does not run */
  shardOf(cluster: string): Shard;
  /** Whether a logical cluster is out of reach here. */
  isElsewhere(cluster: string): boolean;
  /** Resolves when there is something to serve. */
  readonly started: Promise<void>;
}

/** The logical clusters of one shard. */
export function clustersOf(shard: Shard): Clusters {
  const { installation, name } = shard.context;
  return {
    locate: (said) => installation.locate(said, name),
    shardOf: () => shard,
    isElsewhere: (cluster) => installation.isElsewhere(cluster, name),
    get started() {
      return shard.started;
    },
  };
}

/** What is served besides by a shard, and in each of its logical clusters. */
export interface ShardViewOptions {
  readonly documents: NonNullable<VirtualWorkspace<unknown>["documents"]>;
}

/** Logical clusters under `/clusters/<name or path>`, and all of a shard at once under `/clusters/*`. */
export function clustersView(clusters: Clusters, { documents }: ShardViewOptions): VirtualWorkspace {
  const isShut = (cluster: string): boolean => {
    const found = clusters.shardOf(cluster).context.state.logicalCluster(cluster);
    return found !== undefined && isInactive(found);
  };
  const isThere = (cluster: string): boolean =>
    cluster === WILDCARD ||
    cluster.startsWith("system:") ||
    clusters.shardOf(cluster).context.state.logicalCluster(cluster) !== undefined;
  const unwatched = new ServedOnce(withoutWatch);
  // Masters may ask where there is nothing; watches from when there was something end, as they do the other way round.
  const ofNobody = new ServedOnce((served) => servedFrom(served, {}));
  return defineVirtualWorkspace({
    name: "clusters",
    prefix: "/clusters",
    path: "/:cluster",
    wildcard: true,
    groupOrder: "listed",
    locate: (said) => clusters.locate(said),
    authorize: (question) => {
      refuseShardLevel(question);
      const { cluster } = question.params;
      const shard = clusters.shardOf(cluster);
      if (isShut(cluster) && !isOpen(question)) throw inactive(cluster);
      if (shard.homes?.isAsked(question)) return allow();
      const decision = shard.authorizer(question);
      if (!clusters.isElsewhere(cluster) || isAsked(question)) return decision;
      return decision instanceof Promise ? decision.then(refuseElsewhere) : refuseElsewhere(decision as Decision);
    },
    resources: ({ params: { cluster } }) => {
      const shard = clusters.shardOf(cluster);
      const all = shard.servedIn(cluster);
      const served = cluster === ROOT_CLUSTER ? (shard.homes?.in(all) ?? all) : all;
      if (isShut(cluster)) return unwatched.of(served);
      return isThere(cluster) ? served : ofNobody.of(served);
    },
    documents,
    ready: () => clusters.started,
  });
}

/** What somebody may do where it is cannot be done here. Whoever may not is told no more than of any name. @throws ApiError 429 */
function refuseElsewhere(decision: Decision): Decision {
  if (decision.allowed) throw elsewhere();
  return decision;
}

/**
 * Whether an administrator asks what somebody may do: every shard knows of the others as much as it takes to say who may have
 * the content of an export, as views at its address must know (kcp's replicated roles).
 */
function isAsked({ isResource, verb, group, resource, user }: AuthorizeRequest<ClusterParams>): boolean {
  if (!isResource || verb !== "create" || !user.in(MASTERS_GROUP)) return false;
  return group === "authorization.k8s.io" && resource === "subjectaccessreviews";
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
