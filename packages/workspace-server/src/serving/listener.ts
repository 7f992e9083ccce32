import { extname } from "node:path";
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type Authenticator,
  type AuthorizeRequest,
  type Authorizer,
  type Decision,
  defineVirtualWorkspace,
  type ServerOptions,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { Audit } from "@virtual-workspaces/framework/audit";
import { metrics, type ReadyCheck } from "@virtual-workspaces/framework/server";
import { ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import type { ClusterParams } from "../authz/cluster-request.ts";
import { workspaceImpersonation } from "../authz/impersonation.ts";
import type { Mounts } from "../mounts/mounts.ts";
import { workspaceLogins } from "../state/workspace-logins.ts";
import { addressOf, type ClustersViewOptions, clustersView, type ShardViewOptions } from "./clusters-view.ts";
import type { Clusters, ServedShard } from "./served-shard.ts";

/** Options that all listeners of a process share. */
export interface CommonListenerOptions
  extends Pick<
    ServerOptions,
    | "audit"
    | "closeDelay"
    | "closeTimeout"
    | "corsAllowedOrigins"
    | "intercept"
    | "log"
    | "metrics"
    | "component"
    | "onRequest"
    | "pages"
    | "authenticationFailures"
    | "retarget"
    | "tls"
  > {
  readonly authentication: readonly Authenticator[];
  /** Documents of every shard and of each workspace. */
  readonly documents: ShardViewOptions["documents"];
  /** Mounted workspaces of all shards. */
  readonly mounts: Mounts;
  /** Metrics of the process besides those of requests. */
  readonly viewMetrics: NonNullable<VirtualWorkspace["metrics"]>;
}

/** Logical clusters of a listener. */
export interface ListenerClusters extends ClustersViewOptions {
  /** Shard of the paths outside logical clusters. */
  readonly shard: ServedShard;
  readonly clusters: Clusters;
}

/** Content of a listener. */
export interface ListenerContent extends Omit<ListenerClusters, "documents" | "mounts" | "logins" | "metrics"> {
  /** Shard with `root`, which authorizes readers of metrics. */
  readonly root: ServedShard;
  /** Views below `/services`. */
  readonly virtualWorkspaces: readonly VirtualWorkspace[];
  readonly checks: Readonly<Record<string, ReadyCheck>>;
}

/** Returns the views of logical clusters and of the shard itself, with their impersonation rule. */
export function ownViews({
  shard,
  clusters,
  documents,
  mounts,
  logins,
  metrics: ofProcess,
}: ListenerClusters): Pick<ServerOptions, "virtualWorkspaces"> & Required<Pick<ServerOptions, "impersonation">> {
  const authorizer: Authorizer<ClusterParams> = (question) =>
    clusters.shardOf(question.params.cluster ?? "").authorizer(question);
  return {
    virtualWorkspaces: [
      clustersView(clusters, { documents, mounts, logins, metrics: ofProcess }),
      rootView(shard, { documents }),
    ],
    impersonation: workspaceImpersonation(authorizer),
  };
}

/** Returns the options of a listener for one shard's logical clusters, or for all of the process. */
export function listenerOptions(
  { documents, mounts, viewMetrics, ...common }: CommonListenerOptions,
  content: ListenerContent,
): ServerOptions {
  const { shard, clusters, root, virtualWorkspaces, checks } = content;
  const logins = workspaceLogins(shard.context.registry);
  const own = ownViews({ shard, clusters, documents, mounts, logins, metrics: viewMetrics });
  const { audit } = common;
  const { registry } = shard.context;
  return {
    ...common,
    ...(audit && { audit: { ...audit, pathOf: (cluster) => registry.pathOf(cluster) } }),
    virtualWorkspaces: [...own.virtualWorkspaces, ...virtualWorkspaces],
    impersonation: own.impersonation,
    metrics: common.metrics ?? metrics({ authorize: shardLevelAccess(root) }),
    ...(common.component && { component: { ...common.component, authorize: shardLevelAccess(root) } }),
    checks,
  };
}

/** Returns the view of the logical clusters of a listener. */
export function workspacesOf({ virtualWorkspaces }: ServerOptions): VirtualWorkspace | undefined {
  return virtualWorkspaces.find(({ prefix }) => prefix === "/clusters");
}

/**
 * Returns the audit log of a further shard. Servers cannot share a file: instead of `audit.log` it uses `audit-shard-1.log`.
 * Streams and functions are shared.
 */
export function auditOf(audit: Audit | undefined, shard: string): Audit | undefined {
  if (audit === undefined) return undefined;
  const { to } = audit;
  if (typeof to === "string") return { ...audit, to: besides(to, shard) };
  if (typeof to === "function" || "write" in to || !("path" in to)) return audit;
  return { ...audit, to: { ...to, path: besides(to.path, shard) } };
}

function besides(path: string, shard: string): string {
  const end = extname(path);
  return `${path.slice(0, path.length - end.length)}-${shard}${end}`;
}

/**
 * Serves the shard outside of logical clusters: its version, discovery of the common resources, and reviews of any path. Only
 * `system:masters` have access, since other users have no rights without a logical cluster.
 */
function rootView(shard: ServedShard, { documents }: ShardViewOptions): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "shard",
    prefix: "/",
    path: "/",
    groupOrder: "listed",
    serverAddress: () => addressOf(shard),
    authorize: (question) => {
      const decision = shard.authorizer(question as AuthorizeRequest<ClusterParams>);
      if (decision instanceof Promise) return decision.then((late) => withoutObjects(question, late));
      return withoutObjects(question, decision as Decision);
    },
    resources: () => shard.servedIn(""),
    documents,
    ready: () => shard.started,
  });
}

const REVIEWS: ReadonlySet<string> = new Set(["authentication.k8s.io", "authorization.k8s.io"]);

/** @throws ApiError 404 for an allowed request for objects without a logical cluster */
function withoutObjects({ isResource, group }: AuthorizeRequest<unknown>, decision: Decision): Decision {
  if (!decision.allowed || !isResource || REVIEWS.has(group)) return decision;
  throw ApiError.notFoundPath("objects exist only in logical clusters: use a path below /clusters/<name or path>");
}

/**
 * Authorizes readers of metrics as kcp does, and of the pages of the process: by the roles of `root`, whether or not the user
 * has access to that workspace.
 */
function shardLevelAccess(shard: ServedShard): Authorizer<unknown> {
  return (question) => {
    const { signal } = question;
    return shard.authorizer({ ...question, signal, params: { cluster: ROOT_CLUSTER } });
  };
}
