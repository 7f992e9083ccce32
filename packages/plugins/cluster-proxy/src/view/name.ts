/** Where ClusterProxies are served, below `/services`. */
export const CLUSTER_PROXY_VIEW = "clusterproxy";
/** Where agents go, below `/services`, as {@link clusterProxy} has it. */
export const AGENTS_VIEW = "clusterproxy-agents";
