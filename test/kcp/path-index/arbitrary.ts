// Random changes of few shards, logical clusters and names, so that they collide.
import fc from "fast-check";
import type { Change } from "./model.ts";

export const SHARDS: readonly string[] = ["root", "amber", "beta"];
export const CLUSTERS: readonly string[] = ["root", "one", "two", "three"];
export const NAMES: readonly string[] = ["a", "a-name-of-more-than-thirteen-characters"];
export const PATHS: readonly string[] = CLUSTERS.flatMap((first) => {
  let level = [first];
  const all = [first];
  for (let depth = 0; depth < 3; depth++) {
    level = level.flatMap((path) => NAMES.map((name) => `${path}:${name}`));
    all.push(...level);
  }
  return all;
});

const shard = fc.constantFrom(...SHARDS);
const cluster = fc.constantFrom(...CLUSTERS);
const key = fc.record({ cluster, name: fc.constantFrom(...NAMES) });
const workspace = fc.record({
  cluster,
  name: fc.constantFrom(...NAMES),
  target: fc.option(cluster, { nil: undefined, freq: 4 }),
  mountURL: fc.option(fc.constantFrom("https://a/x", "https://b/y", "/none"), { nil: undefined }),
  phase: fc.constantFrom("Ready", "Ready", "Initializing", "Scheduling", "Unavailable"),
});
const logicalCluster = fc.record({
  name: cluster,
  path: fc.option(fc.constantFrom(...PATHS.slice(0, 6), ...NAMES), { nil: undefined }),
  type: fc.option(fc.constantFrom("root:universal", "root:team"), { nil: undefined }),
});
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ shard, set: fc.constant("workspace" as const), workspace }) },
  { weight: 5, arbitrary: fc.record({ shard, set: fc.constant("logicalCluster" as const), logicalCluster }) },
  { weight: 3, arbitrary: fc.record({ shard, delete: fc.constant("workspace" as const), workspace: key }) },
  { weight: 2, arbitrary: fc.record({ shard, delete: fc.constant("logicalCluster" as const), name: cluster }) },
  {
    weight: 2,
    arbitrary: fc.record({
      shard,
      set: fc.constant("shard" as const),
      baseURL: fc.constantFrom("https://x", "https://y"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ shard, delete: fc.constant("shard" as const) }) },
);
export const history: fc.Arbitrary<Change[]> = fc.array(change, { maxLength: 60, size: "max" });
