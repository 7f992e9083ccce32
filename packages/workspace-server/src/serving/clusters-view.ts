import { ApiError, WILDCARD } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  allow,
  type Decision,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import { ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import { SHARD_LEVEL } from "../authz/chain.ts";
import type { ClusterParams } from "../authz/cluster-request.ts";
import type { Mounts } from "../mounts/mounts.ts";
import { isReview } from "../reviews/review-kinds.ts";
import { mountedWorkspaceOf } from "../state/mounted-workspace.ts";
import { elsewhere, inactive, isInactive, notRunning } from "../state/unavailable.ts";
import type { WorkspaceLogins } from "../state/workspace-logins.ts";
import { ServedOnce, servedFrom, withOriginalVersion } from "./served-from.ts";
import { type Clusters, type ServedShard, whenLoaded } from "./served-shard.ts";

/** Documents of a shard and of each of its logical clusters. */
export interface ShardViewOptions {
  readonly documents: NonNullable<VirtualWorkspace<unknown>["documents"]>;
}

/** Mounts and logins of a view over logical clusters. */
export interface ClustersViewOptions extends ShardViewOptions {
  readonly mounts: Mounts;
  /** Returns further authenticators for the name or path of a logical cluster. @default none */
  readonly logins?: WorkspaceLogins | undefined;
  /** Metrics of the process. @default none */
  readonly metrics?: VirtualWorkspace["metrics"] | undefined;
}

/**
 * Serves logical clusters under `/clusters/<name or path>`, mounted workspaces by their paths, and all logical clusters of a
 * shard under `/clusters/*`.
 */
export function clustersView(
  clusters: Clusters,
  { documents, mounts, logins, metrics }: ClustersViewOptions,
): VirtualWorkspace {
  const isShut = (cluster: string): boolean => {
    const found = clusters.shardOf(cluster).context.state.logicalCluster(cluster);
    return found !== undefined && isInactive(found);
  };
  const isThere = (cluster: string): boolean =>
    cluster.startsWith("system:") || clusters.shardOf(cluster).context.state.logicalCluster(cluster) !== undefined;
  const unwatched = new ServedOnce(withoutWatch);
  const everywhere = new Everywhere();
  // `system:masters` may use a missing logical cluster; separate resources end the watches when it goes or comes.
  const ofNobody = new ServedOnce((served) => servedFrom(served, {}));
  const decide = (question: AuthorizeRequest<ClusterParams>, cluster: string): Awaitable<Decision> => {
    const shard = clusters.shardOf(cluster);
    if (isShut(cluster) && !isOpen(question)) throw inactive(cluster);
    if (shard.homes?.isAsked(question)) return allow();
    const decision = shard.authorizer(question);
    const refusal = refusalOf(question, clusters, shard);
    if (refusal === undefined) return decision;
    const refuse = (decided: Decision): Decision => refuseAllowed(decided, refusal);
    return decision instanceof Promise ? decision.then(refuse) : refuse(decision as Decision);
  };
  const servedIn = (cluster: string): readonly ServedResource[] => {
    const shard = clusters.shardOf(cluster);
    const all = shard.servedIn(cluster);
    if (cluster === WILDCARD) return everywhere.of(all);
    const served = cluster === ROOT_CLUSTER ? (shard.homes?.in(all) ?? all) : all;
    if (isShut(cluster)) return unwatched.of(served);
    return isThere(cluster) ? served : ofNobody.of(served);
  };
  return defineVirtualWorkspace({
    name: "clusters",
    prefix: "/clusters",
    path: "/:cluster",
    wildcard: true,
    groupOrder: "listed",
    serverAddress: ({ cluster }) => addressOf(clusters.shardOf(cluster)),
    authentication: ({ cluster }) => logins?.(cluster) ?? [],
    locate: (said) => clusters.locate(said),
    authorize: (question) => {
      refuseShardLevel(question);
      const { cluster } = question.params;
      if (mountedWorkspaceOf(question.params) !== undefined) return entering(clusters.shardOf(cluster), question);
      return whenLoaded(clusters.load(cluster), () => decide(question, cluster));
    },
    // For mount targets that are views of this server with access to the caller's token.
    takesToken: true,
    handleWhen: ({ params }) => mountedWorkspaceOf(params) !== undefined,
    handle: mounts.handle,
    upgrade: mounts.upgrade,
    resources: ({ params: { cluster } }) => whenLoaded(clusters.load(cluster), () => servedIn(cluster)),
    metadataOf: ({ group, resource }, { params: { cluster } }) =>
      cluster === WILDCARD
        ? whenLoaded(clusters.load(cluster), () =>
            everywhere.metadata(clusters.shardOf(cluster).metadataOf({ group, resource })),
          )
        : undefined,
    documents,
    ...(metrics && { metrics }),
    ready: () => clusters.started,
    setup: () => everywhere.follow(clusters.shardOf(WILDCARD)),
  });
}

/** Returns the host and port of a shard, as users reach it. */
export function addressOf({ context }: ServedShard): string {
  return new URL(context.urls.externalURL).host;
}

/**
 * Resources over all logical clusters of a shard. When one of these becomes inactive they are replaced once, which ends open
 * watches, as in kcp. New watches continue.
 */
class Everywhere {
  #lists = new ServedOnce(withOriginalVersion);
  #metadata: ServedOnce | undefined;

  of(list: readonly ServedResource[]): readonly ServedResource[] {
    return this.#lists.of(list);
  }

  metadata(served: ServedResource | undefined): ServedResource | undefined {
    return served === undefined || this.#metadata === undefined ? served : this.#metadata.of([served])[0];
  }

  follow({ context: { state } }: ServedShard): Disposable {
    return state.logicalClusters.on({
      updated: (now, before) => {
        if (isInactive(now) && !isInactive(before)) this.#replace();
      },
    });
  }

  #replace(): void {
    this.#lists = new ServedOnce((served) => servedFrom(withOriginalVersion(served), {}));
    this.#metadata = new ServedOnce((served) => servedFrom(served, {}));
  }
}

/** Allows requests for a mounted workspace to users with access to its parent; the target authorizes them itself. */
function entering(
  { authorizer }: ServedShard,
  { user, params: { cluster } }: AuthorizeRequest<ClusterParams>,
): Decision {
  return authorizer.enters(user, cluster) ? allow() : deny("workspace access not permitted");
}

/** Returns the error for an allowed user whose logical cluster another shard has and serves. */
function refusalOf(
  question: AuthorizeRequest<ClusterParams>,
  clusters: Clusters,
  shard: ServedShard,
): (() => ApiError) | undefined {
  const { cluster = "" } = question.params;
  // Every shard answers reviews from what it knows; without that it must not answer.
  if (isReview(question)) return shard.context.registry.isUnknown(cluster) ? notRunning : undefined;
  return clusters.isElsewhere(cluster) ? elsewhere : undefined;
}

/** Replaces only an allowing decision. Security: a denied user learns no more than for any name. @throws ApiError 429, 503 */
function refuseAllowed(decision: Decision, refusal: () => ApiError): Decision {
  if (decision.allowed) throw refusal();
  return decision;
}

/** Rejects endpoints of the process, also for `system:masters`: they must not appear to be a workspace's. @throws ApiError 501 */
function refuseShardLevel({ isResource, path, params }: AuthorizeRequest<ClusterParams>): void {
  if (isResource || !SHARD_LEVEL.has(path) || params.cluster === "*") return;
  const message = "shard-level endpoint not available at workspace scope";
  throw new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 501 });
}

const LOGICAL_CLUSTERS = "/apis/core.kcp.io/v1alpha1/logicalclusters";

/** Whether an inactive logical cluster serves the request: users must be able to activate it again. */
function isOpen({ path }: AuthorizeRequest<ClusterParams>): boolean {
  return path.startsWith("/openapi") || path.startsWith(LOGICAL_CLUSTERS);
}

/** Ends open watches: the framework ends a watch whose resource has lost the verb. */
function withoutWatch(resource: ServedResource): ServedResource {
  const { group, plural } = resource.definition;
  if (group === "core.kcp.io" && plural === "logicalclusters") return resource;
  return Object.freeze({ ...resource, verbs: resource.verbs.filter((verb) => verb !== "watch") });
}
