// lists and watches across Spaces: against the same lists one by one, bare held watches, a watch of one Space alone
import assert from "node:assert/strict";
import { Authority, SERVER_AUTH } from "../test/_support/certificates.ts";
import { Remote } from "./_harness/remote.ts";
import { type Figure, figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { percentile } from "./_harness/statistics.ts";
import type { SpacesClusters } from "./_servers/spaces-clusters.ts";
import type { SpacesFollower } from "./_servers/spaces-follower.ts";
import type { SpacesHeld } from "./_servers/spaces-held.ts";

const short = process.argv.includes("--short");
const authority = Authority.root("bench");
const server = { ...authority.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] }), ca: authority.cert };
const ca = authority.cert;
const FLAGS = ["--expose-gc"];
const KIB = 1024;
/** Those that are there before memory is weighed: what the first one costs is not each one's. */
const FIRST = 20;

report("spaces", [...(await lists()), ...(await streams())]);

async function lists(): Promise<Figure[]> {
  const [SPACES, OBJECTS] = short ? [10, 200] : [100, 1_000];
  await using clusters = await Remote.start<SpacesClusters>("spaces-clusters");
  const port = await clusters.ask("listen", server);
  await clusters.ask("make", { from: 0, count: SPACES, objects: OBJECTS });
  await using follower = await Remote.start<SpacesFollower>("spaces-follower", FLAGS);
  await follower.ask("open", { port, ca });
  await follower.ask("check");
  const ways = ["across", "at once", "one by one"] as const;
  const measure = async (way: (typeof ways)[number]) => {
    const before = await follower.ask("cpu");
    const { ms, items } = await follower.ask("list", way);
    assert.equal(items, SPACES * OBJECTS, way);
    return { ms, cpu: (await follower.ask("cpu")) - before };
  };
  for (const way of ways) await measure(way);
  const rounds = await interleave(ways, 3, measure);
  const what = `a list of ${SPACES} Spaces x ${OBJECTS} objects`;
  return [
    figure({
      what,
      value: rounds.ratio(["across", "at once"], "ms"),
      unit: "ratio",
      rival: "the same direct lists, 16 at a time",
      atMost: 1.1,
    }),
    figure({ what, value: rounds.ratio(["across", "one by one"], "ms"), unit: "ratio", rival: "one after the other" }),
    figure({
      what: `CPU of ${what}`,
      value: rounds.ratio(["across", "at once"], "cpu"),
      unit: "ratio",
      rival: "the same direct lists, 16 at a time",
    }),
    figure({ what, value: rounds.of("across", "ms"), unit: "ms" }),
  ];
}

async function streams(): Promise<Figure[]> {
  const COUNT = short ? 60 : 1_000;
  await using clusters = await Remote.start<SpacesClusters>("spaces-clusters");
  const port = await clusters.ask("listen", server);
  await clusters.ask("make", { from: 0, count: FIRST, objects: 1 });
  await using rival = await Remote.start<SpacesHeld>("spaces-held", FLAGS);
  await using follower = await Remote.start<SpacesFollower>("spaces-follower", FLAGS);
  await rival.ask("hold", { port, ca, from: 0, count: FIRST });
  await follower.ask("open", { port, ca });
  await follower.ask("watch", FIRST);
  const weigh = async (of: { ask(command: "memory"): Promise<{ held: number; rss: number }> }) => of.ask("memory");
  const before = { bare: await weigh(rival), ours: await weigh(follower) };

  const engaged = performance.now();
  await clusters.ask("make", { from: FIRST, count: COUNT, objects: 1, later: true });
  await follower.ask("synced", FIRST + COUNT);
  const took = performance.now() - engaged;
  const bare = await rival.ask("hold", { port, ca, from: FIRST, count: COUNT });
  assert.equal((await clusters.ask("counts", { from: 0, count: FIRST + COUNT })).open, 2 * (FIRST + COUNT));
  const after = { bare: await weigh(rival), ours: await weigh(follower) };
  const each = (side: "bare" | "ours", of: "held" | "rss"): number => (after[side][of] - before[side][of]) / COUNT;
  const what = `per Space that is followed, of ${COUNT}`;
  return [
    figure({ what: `until ${COUNT} more Spaces are synced`, value: took / 1000, unit: "s" }),
    figure({ what: "the same", value: took / bare, unit: "ratio", rival: "bare list and watch, 16 at a time" }),
    figure({ what: `RSS ${what}`, value: each("ours", "rss") / KIB, unit: "KiB" }),
    figure({
      what: `RSS ${what}`,
      value: each("ours", "rss") / each("bare", "rss"),
      unit: "ratio",
      rival: "a bare held watch",
      atMost: 1.3,
    }),
    figure({
      what: `heap and buffers ${what}`,
      value: each("ours", "held") / each("bare", "held"),
      unit: "ratio",
      rival: "a bare held watch",
    }),
    ...(await latencies(clusters, follower)),
    ...(await engaging(clusters, { follower, from: FIRST + COUNT })),
  ];
}

/** The same changes, as the watch across all shows them and as watches of those Spaces alone do. */
async function latencies(clusters: Remote<SpacesClusters>, follower: Remote<SpacesFollower>): Promise<Figure[]> {
  const TIMES = short ? 100 : 1_000;
  await follower.ask("beside", { from: 0, count: 10 });
  await clusters.ask("change", { from: 0, count: 10, times: TIMES, period: 3 });
  const { merged, direct } = await follower.ask("latencies", { count: TIMES, beside: true });
  assert.equal(merged.length, TIMES);
  const rival = "a direct watch in the same process";
  return [
    ...([0.5, 0.99] as const).map((p) =>
      figure({
        what: `p${p * 100} of an event until it is seen`,
        value: percentile(merged, p) / percentile(direct, p),
        unit: "ratio",
        rival,
      }),
    ),
    figure({
      what: "the first, later by",
      value: (percentile(merged, 0.5) - percentile(direct, 0.5)) * 1000,
      unit: "µs",
      rival,
    }),
  ];
}

/** One Space's events while a hundred others come. */
async function engaging(
  clusters: Remote<SpacesClusters>,
  { follower, from }: { readonly follower: Remote<SpacesFollower>; readonly from: number },
): Promise<Figure[]> {
  const COMING = short ? 20 : 100;
  const TIMES = short ? 100 : 600;
  const before = await clusters.ask("counts", { from: 0, count: from });
  const changes = { from: 15, count: 1, times: TIMES, period: 3 };
  await clusters.ask("change", changes);
  const quiet = await follower.ask("latencies", { count: TIMES, beside: false });
  const changing = clusters.ask("change", changes);
  await clusters.ask("make", { from, count: COMING, objects: 1, later: true });
  await Promise.all([changing, follower.ask("synced", from + COMING)]);
  const busy = await follower.ask("latencies", { count: TIMES, beside: false });
  const after = await clusters.ask("counts", { from: 0, count: from });
  // The same handshakes in the same process, for watches that nobody merges.
  const again = clusters.ask("change", changes);
  await Promise.all([again, follower.ask("beside", { from, count: COMING })]);
  const bare = await follower.ask("latencies", { count: TIMES, beside: false });
  const what = `while ${COMING} Spaces come`;
  return [
    figure({ what: `events lost of another, ${what}`, value: TIMES - busy.merged.length, unit: "count", exactly: 0 }),
    figure({
      what: `watches of others begun anew, ${what}`,
      value: after.begun - before.begun,
      unit: "count",
      exactly: 0,
    }),
    figure({
      what: `p50 of an event of another, ${what}`,
      value: percentile(busy.merged, 0.5) / percentile(quiet.merged, 0.5),
      unit: "ratio",
      rival: "before",
    }),
    figure({ what: `p99 of an event of another, ${what}`, value: percentile(busy.merged, 0.99), unit: "ms" }),
    figure({
      what: "the same",
      value: percentile(busy.merged, 0.99) / percentile(quiet.merged, 0.99),
      unit: "ratio",
      rival: "before",
    }),
    figure({
      what: "the same",
      value: percentile(busy.merged, 0.99) / percentile(bare.merged, 0.99),
      unit: "ratio",
      rival: "while direct watches of them are begun, 16 at a time",
    }),
  ];
}
