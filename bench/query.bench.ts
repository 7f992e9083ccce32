// pages of 100,000 objects, sorted by the server, against a client that lists everything and sorts
import assert from "node:assert/strict";
import { Agent, type IncomingMessage, request } from "node:http";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { median, percentile } from "./_harness/statistics.ts";
import type { Queried } from "./_servers/queried.ts";
import { sharedNow } from "./_servers/tick.ts";

const short = process.argv.includes("--short");
const COUNT = short ? 5_000 : 100_000;
const PAGES = short ? 20 : 400;
const CHANGES = short ? 50 : 500;
const LIMIT = 100;
const ITEMS = "/services/query/clusters/root/apis/bench.example/v1/items";
const agent = new Agent({ keepAlive: true });

interface Item {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly rank: number; readonly at: number };
}

await using server = await Remote.start<Queried>("queried", ["--expose-gc"]);
await server.ask("fill", COUNT);
const port = await server.ask("listen");
const bare = await server.ask("memory");

// The first index of a field parses every object.
const first = await timed(() => page({ sortBy: "Rank", limit: LIMIT }));
assert.equal(first.value.metadata.query.total, COUNT);
check(first.value.items);
const one = await server.ask("memory");
const byName = await timed(() => page({ sortBy: "-Name", limit: LIMIT }));
const filtered = await timed(() => page({ sortBy: "Rank", filter: "object.spec.rank % 2 == 0", limit: LIMIT }));
const searched = await timed(() => page({ sortBy: "Rank", search: "team-42", limit: LIMIT }));

const pages: number[] = [];
for (let n = 0; n < PAGES; n++) {
  const offset = (n * 104_729) % (COUNT - LIMIT);
  const { ms, value } = await timed(() => page({ sortBy: "Rank", limit: LIMIT, offset }));
  assert.equal(value.items.length, LIMIT);
  pages.push(ms);
}
const client: number[] = [];
for (let n = 0; n < (short ? 1 : 5); n++) {
  const { ms } = await timed(async () => {
    const { items } = await page({});
    const sorted = items.toSorted((left, right) => left.spec.rank - right.spec.rank).slice(0, LIMIT);
    check(sorted);
  });
  client.push(ms);
}

const late = await watchWindow();

const sorted = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();
report("query", [
  figure({
    what: `first page of ${COUNT} objects by a field, whose index is built`,
    value: first.ms,
    unit: "ms",
    atMost: 100,
  }),
  figure({ what: "the same by name, which needs no parsing", value: byName.ms, unit: "ms", atMost: 100 }),
  figure({ what: "the same with a CEL filter", value: filtered.ms, unit: "ms" }),
  figure({ what: "the same with a search", value: searched.ms, unit: "ms" }),
  figure({ what: "a page at another offset, p50", value: median(pages), unit: "ms" }),
  figure({ what: "a page at another offset, p95", value: percentile(sorted(pages), 0.95), unit: "ms", atMost: 20 }),
  figure({
    what: "a page at another offset",
    value: median(pages) / median(client),
    unit: "ratio",
    rival: "listing everything and sorting in the client",
    atMost: 0.05,
  }),
  figure({ what: "event to a watched page, p95", value: percentile(sorted(late), 0.95), unit: "ms", atMost: 10 }),
  figure({
    what: "memory of an index, for each object",
    value: (one.held - bare.held) / COUNT,
    unit: "bytes",
    atMost: 400,
  }),
]);
agent.destroy();

interface Page {
  readonly metadata: { readonly resourceVersion: string; readonly query: { readonly total: number } };
  readonly items: readonly Item[];
}

async function page(parameters: Readonly<Record<string, string | number>>): Promise<Page> {
  const res = await get(parameters);
  const pieces: Buffer[] = [];
  for await (const piece of res) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString()) as Page;
}

function get(parameters: Readonly<Record<string, string | number>>): Promise<IncomingMessage> {
  const query = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const headers = { Authorization: "Bearer bench-token", Accept: "application/json" };
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path: `${ITEMS}?${query}`, agent, headers }, (res) => {
      assert.equal(res.statusCode, 200);
      resolve(res);
    })
      .once("error", reject)
      .end();
  });
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly value: T }> {
  const began = performance.now();
  const value = await work();
  return { ms: performance.now() - began, value };
}

function check(items: readonly Item[]): void {
  assert.equal(items.length, LIMIT);
  const ranks = items.map(({ spec }) => spec.rank);
  assert.deepEqual(
    ranks,
    ranks.toSorted((left, right) => left - right),
  );
}

/** Follows the first page while objects move into it. @returns ms from each change to its event */
async function watchWindow(): Promise<readonly number[]> {
  const { metadata } = await page({ sortBy: "Rank", limit: LIMIT });
  const window = { sortBy: "Rank", limit: LIMIT, watch: "true", resourceVersion: metadata.resourceVersion };
  const res = await get(window);
  const late: number[] = [];
  const done = Promise.withResolvers<void>();
  let rest = "";
  res.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: Item };
      if (type === "DELETED") continue;
      late.push(sharedNow() - object.spec.at);
      if (late.length === CHANGES) done.resolve();
    }
  });
  await server.ask("change", { times: CHANGES, period: 3 });
  await done.promise;
  res.destroy();
  return late;
}
