// A tree of workspaces that nobody has to keep: each is a number, and all that is said of it follows from that. 32 are in one parent,
// so that nearly all of a million have paths of five names. Of those, every tenth is mounted. Ten shards have them.
import type { IndexedLogicalCluster, IndexedWorkspace } from "@virtual-workspaces/kcp/path-index";

const IN_ONE = 32;
const SHARDS = 10;
/** The first whose path has five names, of which the root is the first. */
export const FIRST_OF_FIVE = 1 + IN_ONE + IN_ONE ** 2 + IN_ONE ** 3;
const ROOT = 0;

export const shardNames: readonly string[] = Array.from({ length: SHARDS }, (_, n) => `shard-${n}`);
export const baseURLOf = (shard: string): string => `https://${shard}.example:6443`;

/** What is said of one workspace, and by whom. */
export interface Simulated {
  readonly path: string;
  /** Undefined of the root. */
  readonly workspace: { readonly shard: string; readonly said: IndexedWorkspace } | undefined;
  /** Undefined of a mount. */
  readonly logicalCluster: { readonly shard: string; readonly said: IndexedLogicalCluster } | undefined;
  /** The logical cluster, or the URL of a mount. */
  readonly leadsTo: string;
}

const parentOf = (n: number): number => Math.floor((n - 1) / IN_ONE);
const shardOf = (n: number): string => shardNames[n % SHARDS] ?? "";
const nameOf = (n: number): string => `workspace-${String(n).padStart(6, "0")}`;
/** Spread over 32 bits, of sixteen characters as kcp's. */
const clusterOf = (n: number): string =>
  n === ROOT ? "root" : ((n * 2_654_435_761) % 2 ** 32).toString(36).padStart(16, "x");
const pathOf = (n: number): string => (n === ROOT ? "root" : `${pathOf(parentOf(n))}:${nameOf(n)}`);

export function simulated(n: number): Simulated {
  const mount = n % 10 === 0 && n >= FIRST_OF_FIVE;
  const [path, cluster] = [pathOf(n), clusterOf(n)];
  const leadsTo = mount ? `https://mounts.example/clusters/${cluster}` : cluster;
  const key = { cluster: clusterOf(parentOf(n)), name: nameOf(n), phase: "Ready" };
  const workspace = mount ? { ...key, mountURL: leadsTo } : { ...key, target: cluster };
  return {
    path,
    leadsTo,
    workspace: n === ROOT ? undefined : { shard: shardOf(parentOf(n)), said: workspace },
    logicalCluster: mount ? undefined : { shard: shardOf(n), said: { name: cluster, path, type: "root:universal" } },
  };
}
