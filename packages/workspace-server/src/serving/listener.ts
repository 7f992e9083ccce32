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
import { inClusterUrl } from "../tokens/in-cluster.ts";
import { type ClustersViewOptions, clustersView, type ShardViewOptions } from "./clusters-view.ts";
import type { Clusters, ServedShard } from "./served-shard.ts";

/** What all listeners of a process have in common. */
export interface CommonListenerOptions
  extends Pick<
    ServerOptions,
    "audit" | "closeDelay" | "closeTimeout" | "log" | "metrics" | "onRequest" | "authenticationFailures" | "tls"
  > {
  readonly authentication: readonly Authenticator[];
  /** Served by every shard, and in each workspace. */
  readonly documents: ShardViewOptions["documents"];
  /** Serve what workspaces of any shard are mounted on. */
  readonly mounts: Mounts;
}

/** The logical clusters that a listener has. */
export interface ListenerClusters extends ClustersViewOptions {
  /** Whose own paths are served. */
  readonly shard: ServedShard;
  readonly clusters: Clusters;
}

/** What one of them serves. */
export interface ListenerContent extends Omit<ListenerClusters, "documents" | "mounts" | "logins"> {
  /** Decides who reads metrics: the shard that has `root`. */
  readonly root: ServedShard;
  /** Below `/services`. */
  readonly virtualWorkspaces: readonly VirtualWorkspace[];
  readonly checks: Readonly<Record<string, ReadyCheck>>;
}

/** Logical clusters and what is asked of the shard itself, and who may act as whom there. */
export function ownViews({
  shard,
  clusters,
  documents,
  mounts,
  logins,
}: ListenerClusters): Pick<ServerOptions, "virtualWorkspaces"> & Required<Pick<ServerOptions, "impersonation">> {
  const authorizer: Authorizer<ClusterParams> = (question) =>
    clusters.shardOf(question.params.cluster ?? "").authorizer(question);
  return {
    virtualWorkspaces: [clustersView(clusters, { documents, mounts, logins }), rootView(shard, { documents })],
    impersonation: workspaceImpersonation(authorizer),
  };
}

/** A listener for logical clusters: one shard's, or all that run in the process. */
export function listenerOptions(
  { documents, mounts, ...common }: CommonListenerOptions,
  content: ListenerContent,
): ServerOptions {
  const { shard, clusters, root, virtualWorkspaces, checks } = content;
  const logins = workspaceLogins(shard.context.registry);
  const own = ownViews({ shard, clusters, documents, mounts, logins });
  return {
    ...common,
    virtualWorkspaces: [...own.virtualWorkspaces, ...virtualWorkspaces],
    impersonation: own.impersonation,
    retarget: inClusterUrl,
    metrics: common.metrics ?? metrics({ authorize: metricsAccess(root) }),
    checks,
  };
}

/**
 * The audit log of a further shard: files are one server's own, so `audit.log` is `audit-shard-1.log` there. Streams and
 * functions are shared.
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
 * What is asked of the shard itself, outside of every logical cluster: its version, what is served in all of them, and, as
 * for any other path, reviews. For masters alone; for others nothing is decided without a logical cluster, which is a no.
 */
function rootView(shard: ServedShard, { documents }: ShardViewOptions): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "shard",
    prefix: "/",
    path: "/",
    groupOrder: "listed",
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

/** @throws ApiError 404 to those who may do everything, and forgot to say where */
function withoutObjects({ isResource, group }: AuthorizeRequest<unknown>, decision: Decision): Decision {
  if (!decision.allowed || !isResource || REVIEWS.has(group)) return decision;
  throw ApiError.notFoundPath("there are no objects outside of logical clusters: ask below /clusters/<name or path>");
}

/** Who may read metrics: as kcp decides it, by the roles of `root`, whether or not one may enter that. */
function metricsAccess(shard: ServedShard): Authorizer<unknown> {
  return (question) => {
    const { signal } = question;
    return shard.authorizer({ ...question, signal, params: { cluster: ROOT_CLUSTER } });
  };
}
