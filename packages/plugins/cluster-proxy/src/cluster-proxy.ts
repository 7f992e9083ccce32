import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import {
  CLUSTER_PROXY_EXPORT,
  ClusterProxy,
  type ExportManifestsOptions,
  exportManifests,
} from "@virtual-workspaces/kcp";
import type { ClusterProxyOptions } from "./hub/hub.ts";
import { Hub } from "./hub/hub.ts";
import { agentsView } from "./views/agents-view.ts";
import { clusterProxyView } from "./views/cluster-proxy-view.ts";

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
 *
 * @example
 * ```ts
 * import { clusterProxy, clusterProxyManifests } from "@virtual-workspaces/cluster-proxy";
 * import type { Workspaces } from "@virtual-workspaces/forwarding";
 *
 * export const manifests = clusterProxyManifests();
 *
 * export default (workspaces: Workspaces) => clusterProxy(workspaces);
 * ```
 * @see docs/how-to/cluster-proxy.md
 */
export function clusterProxy(options: ClusterProxyOptions): readonly VirtualWorkspace[] {
  const hub = new Hub(options);
  return [clusterProxyView(hub), agentsView(hub)];
}

/** What {@link clusterProxyManifests} is given. */
export type ClusterProxyManifestsOptions = Pick<ExportManifestsOptions, "mayBind">;

/**
 * What must be there for {@link clusterProxy} to have ClusterProxies, in `root`: the APIExport `cluster.proxy.kcp.io` with the kind.
 * It claims nothing of the workspaces that bind it.
 */
export function clusterProxyManifests(options: ClusterProxyManifestsOptions = {}): KubeObject[] {
  return exportManifests({ name: CLUSTER_PROXY_EXPORT, resources: [ClusterProxy], ...options });
}
