import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { agentsView } from "./enrolment/agents-view.ts";
import { Hub } from "./hub/hub.ts";
import type { ClusterProxyOptions } from "./hub/options.ts";
import { clusterProxyView } from "./view/cluster-proxy-view.ts";

/**
 * Remote clusters that nobody can dial, over the workspaces of a shard, asked as a member of `system:masters`: two views, to be served by
 * one server. `/services/clusterproxy/<logical cluster or path>/<ClusterProxy>/…` is the remote cluster, as its rules let each caller see it; at
 * `/services/clusterproxy-agents/…` agents are enrolled and leave the tunnels that they dial. A controller says in each ClusterProxy how it is.
 *
 * Callers are authorized by a SubjectAccessReview in the workspace of the ClusterProxy, by verb, for `clusterproxies/proxy`; the remote cluster is told
 * of their name and groups, and of none that begins with `system:` but `system:authenticated`. Agents' tunnels end when they are revoked, enrolled
 * again, or started a second time.
 *
 * @throws Error on options that cannot be used
 */
export function clusterProxy(options: ClusterProxyOptions): readonly VirtualWorkspace[] {
  const hub = new Hub(options);
  return [clusterProxyView(hub), agentsView(hub)];
}
