// the index of paths with a million workspaces while a thousand changes a second arrive, against a plain Map of full paths
import type { LookedUp } from "./_harness/looked-up.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { WorkspaceChanges } from "./_servers/workspace-changes.ts";

const short = process.argv.includes("--short");
const WORKSPACES = short ? 50_000 : 1_000_000;
const PER_SECOND = 1000;
const ROUNDS = 5;
const ROUND = short ? 300 : 1500;
const RIVAL = "plain Map of full paths";

await using index = await Remote.start<LookedUp>("path-index", ["--expose-gc"]);
await using map = await Remote.start<LookedUp>("path-map", ["--expose-gc"]);
await using changes = await Remote.start<WorkspaceChanges>("workspace-changes");

/** @returns bytes of the heap for each of them */
async function filled(side: Remote<LookedUp>): Promise<number> {
  const before = await side.ask("memory");
  await side.ask("fill", WORKSPACES);
  const { held } = await side.ask("memory");
  await side.ask("check");
  return (held - before.held) / WORKSPACES;
}

const sides = { index, map };
const bytes = { index: await filled(index), map: await filled(map) };
const port = await changes.ask("listen", { workspaces: WORKSPACES, perSecond: PER_SECOND, followers: 2 });
await Promise.all([index.ask("follow", port), map.ask("follow", port)]);
const warm = (name: keyof typeof sides) => sides[name].ask("look", ROUND);
await interleave(["index", "map"], 1, warm);
const rounds = await interleave(["index", "map"], ROUNDS, warm);
for (const side of [index, map]) await side.ask("check");

const many = WORKSPACES.toLocaleString("en");
report("index", [
  figure({
    what: `heap and buffers per workspace, ${many}, a tenth mounts`,
    value: bytes.index,
    unit: "bytes",
    atMost: 400,
  }),
  figure({ what: "the same", value: bytes.index / bytes.map, unit: "ratio", rival: RIVAL }),
  figure({
    what: `CPU per lookup of five names, ${PER_SECOND.toLocaleString("en")} changes a second meanwhile`,
    value: rounds.of("index", "cpu"),
    unit: "µs",
    atMost: 2,
  }),
  figure({ what: "the same", value: rounds.ratio(["index", "map"], "cpu"), unit: "ratio", rival: RIVAL }),
  figure({
    what: "a change until it is seen, median",
    value: rounds.of("index", "median"),
    unit: "ms",
  }),
  figure({ what: "the same", value: rounds.ratio(["index", "map"], "median"), unit: "ratio", rival: RIVAL }),
  figure({ what: "the same, p99", value: rounds.of("index", "p99"), unit: "ms" }),
  figure({ what: "changes that were seen", value: (rounds.of("index", "changes") / ROUND) * 1000, unit: "1/s" }),
]);
