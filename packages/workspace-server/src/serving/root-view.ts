import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  type Authorizer,
  type Decision,
  defineVirtualWorkspace,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { ROOT_CLUSTER } from "@virtual-workspaces/kcp";
import type { ClusterParams } from "../authz/cluster-request.ts";
import type { ShardViewOptions } from "./clusters-view.ts";
import type { Shard } from "../shards/shard.ts";

/**
 * What is asked of the shard itself, outside of every logical cluster: its version, what is served in all of them, and, as
 * for any other path, reviews. For masters alone; for others nothing is decided without a logical cluster, which is a no.
 */
export function rootView(shard: Shard, { documents }: ShardViewOptions): VirtualWorkspace {
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
export function metricsAccess(shard: Shard): Authorizer<unknown> {
  return (question) => {
    const { signal } = question;
    return shard.authorizer({ ...question, signal, params: { cluster: ROOT_CLUSTER } });
  };
}
