/** Where ClusterProxies are served, below `/services`. */
export const CLUSTER_PROXY_VIEW = "clusterproxy";
