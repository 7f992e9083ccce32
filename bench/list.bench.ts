// LIST of 10,000 objects of 2 KiB, against a bare handler with one prepared buffer
import assert from "node:assert/strict";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { median } from "./_harness/statistics.ts";
import type { Bare } from "./_servers/bare.ts";
import type { Widgets } from "./_servers/widgets.ts";

const COUNT = 10_000;
const SIZE = 2048;
const ROUNDS = 9;
const MIB = 2 ** 20;
const request = getRequest("/services/bench/apis/bench.example/v1/widgets", {
  Authorization: "Bearer bench-token",
  Accept: "application/json",
});

await using ours = await Remote.start<Widgets>("widgets", ["--expose-gc"]);
await using bare = await Remote.start<Bare>("bare", ["--expose-gc"]);

await ours.ask("fill", { count: COUNT, bytes: SIZE });
const port = { ours: await ours.ask("listen"), bare: await bare.ask("listen") };

// Memory first: what the lists add to a server that has served none yet.
const held = await ours.ask("memory");
await ours.ask("startSampling");
const expected = await fetchOnce(port.ours, request);
checkList(expected);
const atOnce = await load({ port: port.ours, request, expected, connections: 8, milliseconds: 4000 });
const peak = await ours.ask("stopSampling");
assert.ok(atOnce.answers > 8);

const prepared = await prepareBare();
assert.deepEqual(prepared.body, expected.body);
type Name = "ours" | "bare";
const rate: Record<Name, number[]> = { ours: [], bare: [] };
const cpu: Record<Name, number[]> = { ours: [], bare: [] };
for (const name of ["ours", "bare"] as const) await measure(name);
for (let round = 0; round < ROUNDS; round++) {
  for (const name of ["ours", "bare"] as const) {
    const measured = await measure(name);
    rate[name].push(measured.rate);
    cpu[name].push(measured.cpu);
  }
}
const perRound = (of: Record<Name, number[]>): number[] =>
  of.ours.map((value, round) => value / (of.bare[round] ?? Number.NaN));

const rival = "node:http, one prepared buffer";
report("list", [
  figure({
    what: "bytes per second over a bare handler",
    value: median(perRound(rate)),
    unit: "ratio",
    rival,
    atLeast: 0.7,
  }),
  figure({
    what: "growth of memory (RSS), 8 lists at a time",
    value: (peak.rss - held.rss) / MIB,
    unit: "MiB",
    rival: "itself before the first list",
    below: 64,
  }),
  figure({ what: "CPU per byte over a bare handler", value: median(perRound(cpu)), unit: "ratio", rival }),
  figure({ what: "bytes per second", value: median(rate.ours) / MIB, unit: "MiB/s" }),
  figure({ what: "bytes per second, bare handler", value: median(rate.bare) / MIB, unit: "MiB/s" }),
]);

async function measure(name: Name): Promise<{ readonly rate: number; readonly cpu: number }> {
  const server: Measurable = { ours, bare }[name];
  const answer = { ours: expected, bare: prepared }[name];
  const before = await server.ask("cpu");
  const { answers, seconds } = await load({
    port: port[name],
    request,
    expected: answer,
    connections: 4,
    milliseconds: 600,
  });
  const used = (await server.ask("cpu")) - before;
  return { rate: (answers * answer.length) / seconds, cpu: used / (answers * answer.length) };
}

async function prepareBare(): Promise<Answer> {
  const { headers, body } = expected;
  const own = headers.filter(([name]) => !/^(date|connection|keep-alive)$/i.test(name)); // Node's, in both
  await bare.ask("use", { headers: Object.fromEntries(own), body });
  return fetchOnce(port.bare, request);
}

function checkList(answer: Answer): void {
  assert.equal(answer.status, 200);
  const { kind, items } = JSON.parse(answer.body.toString());
  assert.deepEqual([kind, items.length], ["WidgetList", COUNT]);
  for (const [n, { metadata }] of items.entries()) assert.equal(metadata.name, `w${String(n).padStart(5, "0")}`);
  assert.ok(Math.abs(answer.body.length / COUNT - SIZE) < 32, `the list has ${answer.body.length} bytes`);
}
