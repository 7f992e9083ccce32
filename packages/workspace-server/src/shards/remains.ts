import type { ShardContext } from "../state/context.ts";

/** What is left on a shard. */
export interface Remains {
  /** Logical clusters, but those of the system, which every shard has. */
  readonly clusters: number;
  /** Some of them, as their users call them. */
  readonly examples: readonly string[];
  /** Workspaces that are to be put there, or that have been. */
  readonly workspaces: number;
  /** Shards that do not run, and may have such workspaces. */
  readonly unknown: readonly string[];
}

/** How many are named. */
const EXAMPLES = 5;

/** Counts what is left on a shard. Up to 100 logical clusters are looked at one by one. */
export function remainsOf({ name, state, installation }: ShardContext): Remains {
  const { size } = state.logicalClusters.store;
  const names =
    size > 100
      ? []
      : state.logicalClusters.store
          .list()
          .map(({ metadata }) => metadata.annotations?.["kcp.io/cluster"] ?? "")
          .filter((cluster) => !cluster.startsWith("system:"));
  const examples = names.slice(0, EXAMPLES).map((cluster) => installation.index.pathOf(cluster) ?? cluster);
  const counts = installation.shards.map((shard) => shard.state.workspaces.store.countBy("shard", name));
  return {
    clusters: size > 100 ? size : names.length,
    examples: examples.sort(),
    workspaces: counts.reduce((sum, count) => sum + count, 0),
    unknown: installation.missing.map(({ metadata }) => metadata.name ?? ""),
  };
}

/** The same for whoever has deleted the shard. */
export function remainsText({ clusters, examples, workspaces, unknown }: Remains): string {
  if (clusters + workspaces === 0)
    return `workspaces that are on it may be in those of shards that do not run: ${unknown.join(", ")}`;
  if (clusters === 0) return `workspaces are about to be put on it, or to leave it: ${workspaces}`;
  const more = clusters > examples.length ? ", …" : "";
  const named = examples.length === 0 ? "" : ` (${examples.join(", ")}${more})`;
  return `logical clusters are on it: ${clusters}${named}; delete their workspaces, and the shard goes`;
}
