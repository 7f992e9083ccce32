/** A set of logical clusters. */
export interface ClusterSet {
  has(cluster: string): boolean;
  /** Text that is equal for equal sets. */
  readonly text: string;
}

/** All logical clusters. */
export const EVERY_CLUSTER: ClusterSet = Object.freeze({ has: () => true, text: "*" });
