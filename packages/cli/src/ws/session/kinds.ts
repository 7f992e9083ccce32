// Why: the kinds of the `kcp` package include schemas and server code, which take longer to load than everything else here.
import type { KindReference } from "@virtual-workspaces/apimachinery";
import type * as kcp from "@virtual-workspaces/kcp";

/** Type of a kind's objects. */
type HeldBy<Kind> = Kind extends KindReference<infer T> ? T : never;

export type Workspace = kcp.Workspace;
export type WorkspaceContent = HeldBy<typeof kcp.Workspace>;

export const WORKSPACES: KindReference<HeldBy<typeof kcp.Workspace>> = {
  group: "tenancy.kcp.io",
  version: "v1alpha1",
  kind: "Workspace",
  plural: "workspaces",
  scope: "Cluster",
};

export const LOGICAL_CLUSTERS: KindReference<HeldBy<typeof kcp.LogicalCluster>> = {
  group: "core.kcp.io",
  version: "v1alpha1",
  kind: "LogicalCluster",
  plural: "logicalclusters",
  scope: "Cluster",
};

export const MOUNTS: KindReference<HeldBy<typeof kcp.Mount>> = {
  group: "proxy.kcp.io",
  version: "v1alpha1",
  kind: "Mount",
  plural: "mounts",
  scope: "Cluster",
};

export const CLUSTER_PROXIES: KindReference<HeldBy<typeof kcp.ClusterProxy>> = {
  group: "proxy.kcp.io",
  version: "v1alpha1",
  kind: "ClusterProxy",
  plural: "clusterproxies",
  scope: "Cluster",
};

export const API_EXPORTS: KindReference<HeldBy<typeof kcp.APIExport>> = {
  group: "apis.kcp.io",
  version: "v1alpha2",
  kind: "APIExport",
  plural: "apiexports",
  scope: "Cluster",
};

export const ENDPOINT_SLICES: KindReference<HeldBy<typeof kcp.APIExportEndpointSlice>> = {
  group: "apis.kcp.io",
  version: "v1alpha1",
  kind: "APIExportEndpointSlice",
  plural: "apiexportendpointslices",
  scope: "Cluster",
};

export const API_BINDINGS: KindReference<HeldBy<typeof kcp.APIBinding>> = {
  group: "apis.kcp.io",
  version: "v1alpha2",
  kind: "APIBinding",
  plural: "apibindings",
  scope: "Cluster",
};
