// LIST of 10,000 objects of 2 KiB, against a bare handler with one prepared buffer
import assert from "node:assert/strict";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { mimic } from "./_harness/mimic.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Bare } from "./_servers/bare.ts";
import type { Widgets } from "./_servers/widgets.ts";

const COUNT = 10_000;
const SIZE = 2048;
const ROUNDS = 9;
const MIB = 2 ** 20;
const NAMES = ["ours", "bare"] as const;
type Name = (typeof NAMES)[number];

const request = getRequest("/services/bench/apis/bench.example/v1/widgets", {
  Authorization: "Bearer bench-token",
  Accept: "application/json",
});

// V8 doubles its young generation, by 16 MiB twice, at some moment of a run. Large from the start, the growth is that of lists.
await using ours = await Remote.start<Widgets>("widgets", ["--expose-gc", "--min-semi-space-size=16"]);
await using bare = await Remote.start<Bare>("bare", ["--expose-gc"]);

await ours.ask("fill", { count: COUNT, bytes: SIZE });
const port = { ours: await ours.ask("listen"), bare: await bare.ask("listen") };

// Memory first: what lists add to a server that has served none yet.
const idle = await ours.ask("memory");
await ours.ask("startSampling");
const list = await fetchOnce(port.ours, request);
checkList(list);
await load({ port: port.ours, request, expected: list, connections: 8, milliseconds: 4000 });
const peak = await ours.ask("stopSampling");

const answer = { ours: list, bare: await mimic(bare, list, { port: port.bare, request }) };
const servers: Readonly<Record<Name, Measurable>> = { ours, bare };
await interleave(NAMES, 1, measure);
const rounds = await interleave(NAMES, ROUNDS, measure);

const rival = "node:http, one prepared buffer";
report("list", [
  figure({ what: "bytes per second", value: rounds.ratio(NAMES, "rate"), unit: "ratio", rival, atLeast: 0.7 }),
  figure({
    what: "growth of RSS, 8 lists at a time",
    value: (peak.rss - idle.rss) / MIB,
    unit: "MiB",
    rival: "before the first list",
    below: 64,
  }),
  figure({ what: "buffers at their peak, objects included", value: peak.arrayBuffers / MIB, unit: "MiB" }),
  figure({ what: "CPU per byte", value: rounds.ratio(NAMES, "cpu"), unit: "ratio", rival }),
  figure({ what: "bytes per second", value: rounds.of("ours", "rate") / MIB, unit: "MiB/s" }),
  figure({ what: "bytes per second of the bare handler", value: rounds.of("bare", "rate") / MIB, unit: "MiB/s" }),
]);

async function measure(name: Name): Promise<{ rate: number; cpu: number }> {
  const expected = answer[name];
  const before = await servers[name].ask("cpu");
  const { answers, seconds } = await load({ port: port[name], request, expected, connections: 4, milliseconds: 600 });
  const bytes = answers * expected.length;
  return { rate: bytes / seconds, cpu: ((await servers[name].ask("cpu")) - before) / bytes };
}

function checkList({ status, body }: Answer): void {
  assert.equal(status, 200);
  const { kind, items } = JSON.parse(body.toString());
  assert.deepEqual([kind, items.length], ["WidgetList", COUNT]);
  for (const [n, { metadata }] of items.entries()) assert.equal(metadata.name, `w${String(n).padStart(5, "0")}`);
  assert.ok(Math.abs(body.length / COUNT - SIZE) < 32, `the list has ${body.length} bytes`);
}
