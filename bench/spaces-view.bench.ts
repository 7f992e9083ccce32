// many Spaces as one API server: lists and events through the view, against the same of the Spaces themselves
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { Authority, SERVER_AUTH } from "../test/_support/certificates.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { percentile } from "./_harness/statistics.ts";
import type { SpacesClusters } from "./_servers/spaces-clusters.ts";
import type { SpacesViewed } from "./_servers/spaces-viewed.ts";
import { sharedNow } from "./_servers/tick.ts";

const short = process.argv.includes("--short");
const [SPACES, OBJECTS] = short ? [10, 200] : [100, 1_000];
const WATCHERS = short ? 50 : 500;
const TIMES = short ? 100 : 1_000;
const MAPS = "/api/v1/configmaps";
const ALL = `/services/spaces/*/*${MAPS}`;
const authority = Authority.root("bench");
const tls = { ...authority.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] }), ca: authority.cert };
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

await using clusters = await Remote.start<SpacesClusters>("spaces-clusters");
const behind = await clusters.ask("listen", tls);
await clusters.ask("make", { from: 0, count: SPACES, objects: OBJECTS });
await using viewed = await Remote.start<SpacesViewed>("spaces-viewed", ["--expose-gc"]);
const port = await viewed.ask("listen", { port: behind, tls });

while ((await get(port, "/readyz/spaces")).resume().statusCode !== 200);

const bare = await viewed.ask("memory");
const begun = performance.now();
const first = await list(port, ALL);
const cold = performance.now() - begun;
assert.equal(first.items.length, SPACES * OBJECTS);
check(first);
const held = await viewed.ask("memory");

const ways = ["together", "one by one"] as const;
const rounds = await interleave(ways, 9, async (way) => {
  const from = performance.now();
  let bytes = 0;
  if (way === "together") bytes = await read(port, ALL);
  else for (let space = 0; space < SPACES; space++) bytes += await read(behind, `/s/${space}${MAPS}`);
  return { ms: performance.now() - from, bytes };
});

/** Of each change: when it was seen directly, and through the view. */
const seen = { direct: new Map<string, number>(), view: new Map<string, number>() };
let changed = (): void => undefined;
const version = String((first.metadata as { resourceVersion?: string }).resourceVersion);
for (let at = 0; at < 10; at++) await watch(behind, `/s/${at}${MAPS}?watch=true&resourceVersion=1`, note("direct"));
await watch(port, `${ALL}?watch=true&resourceVersion=${version}`, note("view"));
await clusters.ask("change", { from: 0, count: 10, times: TIMES, period: 3 });
while (seen.view.size < TIMES || seen.direct.size < TIMES)
  await new Promise<void>((resolve) => {
    changed = resolve;
  });
const added = Float64Array.from([...seen.view].map(([name, at]) => at - (seen.direct.get(name) ?? Number.NaN))).sort();

for (let n = 0; n < WATCHERS; n++) await watch(port, `${ALL}?watch=true&resourceVersion=${version}`, () => undefined);
const { open } = await clusters.ask("counts", { from: 0, count: SPACES });

const what = `${SPACES} Spaces x ${OBJECTS} objects`;
report("spaces-view", [
  figure({
    what: `a list of ${what}`,
    value: rounds.ratio(["together", "one by one"], "ms"),
    unit: "ratio",
    rival: "the sum of the same lists, by the same client, of servers with prepared answers",
    atMost: 1.1,
  }),
  figure({
    what: "the same, by the bytes that came",
    value:
      rounds.of("together", "ms") /
      rounds.of("together", "bytes") /
      (rounds.of("one by one", "ms") / rounds.of("one by one", "bytes")),
    unit: "ratio",
    rival: "the same",
    atMost: 1.1,
  }),
  figure({ what: `the first list of ${what}, of which nothing was known`, value: cold / 1000, unit: "s" }),
  figure({ what: "held by the view for each object, of 500 bytes", value: perObject("held"), unit: "KiB" }),
  figure({ what: "the same, resident", value: perObject("rss"), unit: "KiB" }),
  figure({
    what: "p50 of an event, later by",
    value: percentile(added, 0.5),
    unit: "ms",
    rival: "a direct watch in the same process",
  }),
  figure({ what: "p99", value: percentile(added, 0.99), unit: "ms", rival: "a direct watch in the same process" }),
  figure({ what: "events that were lost", value: TIMES - seen.view.size, unit: "count", exactly: 0 }),
  figure({
    what: `watches at each Space, ${WATCHERS + 1} watchers of all`,
    value: (open - 10) / SPACES,
    unit: "count",
    exactly: 1,
  }),
]);
agent.destroy();

/** KiB that came with the objects. */
function perObject(part: keyof typeof held): number {
  return (held[part] - bare[part]) / (SPACES * OBJECTS) / 1024;
}

interface List {
  readonly metadata: object;
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
    readonly data: { readonly space: string; readonly text: string };
  }[];
}

function get(at: number, path: string, own = agent): Promise<IncomingMessage> {
  const headers = { Authorization: "Bearer bench", Accept: "application/json" };
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port: at, ca: tls.ca, path, agent: own, headers }, resolve)
      .once("error", reject)
      .end();
  });
}

/** @returns bytes */
async function read(at: number, path: string): Promise<number> {
  const res = await get(at, path);
  assert.equal(res.statusCode, 200, path);
  let bytes = 0;
  for await (const piece of res) bytes += (piece as Buffer).length;
  return bytes;
}

async function list(at: number, path: string): Promise<List> {
  const res = await get(at, path);
  const pieces: Buffer[] = [];
  for await (const piece of res) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  assert.equal(res.statusCode, 200, text.slice(0, 300));
  return JSON.parse(text) as List;
}

/** Each is said to be in the Space that has it. */
function check({ items }: List): void {
  for (const { metadata, data } of items)
    assert.equal(metadata.annotations["space.kubestellar.io/space"], `default/s${data.space.padStart(4, "0")}`);
}

async function watch(at: number, path: string, line: (text: string) => void): Promise<void> {
  const res = await get(at, path);
  assert.equal(res.statusCode, 200, path);
  let rest = "";
  res.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const one of lines) line(one);
  });
}

function note(by: "direct" | "view"): (line: string) => void {
  return (line) => {
    const name = /"name":"(tick-\d+)"/.exec(line)?.[1];
    if (name === undefined) return;
    seen[by].set(name, sharedNow());
    changed();
  };
}
