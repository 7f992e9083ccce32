import type { VirtualWorkspace } from "@virtual-workspaces/framework";

/** Shards that a query view shows as one. */
export interface QueriedShards {
  /** Workspaces of each shard that runs, by its name. */
  readonly running: ReadonlyMap<string, VirtualWorkspace>;
  /** Names of shards that do not run: their objects are missing from lists, totals and counts, which say so. */
  readonly missing: readonly string[];
  /** Notifies after a shard has begun to run, has stopped, or was deleted. */
  listen(listener: () => void): Disposable;
}
