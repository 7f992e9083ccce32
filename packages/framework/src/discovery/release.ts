/** Kubernetes minor release whose wire behavior is served. Clients choose features by it. */
export const KUBERNETES_MINOR = "37";
