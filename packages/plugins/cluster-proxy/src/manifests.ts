import type { KubeObject } from "@virtual-workspaces/apimachinery";
import {
  CLUSTER_PROXY_EXPORT,
  ClusterProxy,
  type ExportManifestsOptions,
  exportManifests,
} from "@virtual-workspaces/kcp";

/** What {@link clusterProxyManifests} is given. */
export type ClusterProxyManifestsOptions = Pick<ExportManifestsOptions, "mayBind">;

/**
 * What must be there for {@link clusterProxy} to have ClusterProxies, in `root`: the APIExport `cluster.proxy.kcp.io` with the kind.
 * It claims nothing of the workspaces that bind it.
 */
export function clusterProxyManifests(options: ClusterProxyManifestsOptions = {}): KubeObject[] {
  return exportManifests({ name: CLUSTER_PROXY_EXPORT, resources: [ClusterProxy], ...options });
}
