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
 * Serves remote clusters without an inbound address, for the workspaces of a shard with a client that is a member of `system:masters`. It
 * returns two views for one server. `/services/clusterproxy/<logical cluster or path>/<ClusterProxy>/…` is the remote cluster, with each
 * caller's rights there. `/services/clusterproxy-agents/…` enrolls agents and accepts their tunnels. A controller maintains the status of
 * each ClusterProxy.
 *
 * Security: a SubjectAccessReview of `clusterproxies/proxy` in the workspace of the ClusterProxy authorizes each caller by verb. The remote
 * cluster receives the caller's name and groups, without groups that start with `system:` except `system:authenticated`. The tunnels of an
 * agent end when it is revoked, enrolled again, or started a second time.
 *
 * @throws Error on invalid options
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

/** Options of {@link clusterProxyManifests}. */
export type ClusterProxyManifestsOptions = Pick<ExportManifestsOptions, "mayBind">;

/** Returns the manifests for {@link clusterProxy} in `root`: the APIExport `cluster.proxy.kcp.io` with the kind ClusterProxy and no permission claims. */
export function clusterProxyManifests(options: ClusterProxyManifestsOptions = {}): KubeObject[] {
  return exportManifests({ name: CLUSTER_PROXY_EXPORT, resources: [ClusterProxy], ...options });
}
