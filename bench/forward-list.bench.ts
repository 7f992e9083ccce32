// LIST of 20 MB that another server has, against a bare relay by undici, with nginx and the direct way beside it
import assert from "node:assert/strict";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { startNginx } from "./_harness/nginx.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Forwarded } from "./_servers/forwarded.ts";
import type { Relay } from "./_servers/relay.ts";
import type { Upstream } from "./_servers/upstream.ts";

const COUNT = 10_000;
const SIZE = 2048;
const short = process.argv.includes("--short");
const ROUNDS = short ? 4 : 9;
const MIB = 2 ** 20;
/** Both do better with it: what passes through is garbage at once, and is not carried from space to space. */
const FLAGS = ["--expose-gc", "--max-semi-space-size=1"];

const request = getRequest("/services/bench/apis/bench.example/v1/widgets", {
  Authorization: "Bearer bench-token",
  Accept: "application/json",
});
const body = widgetList();

await using upstream = await Remote.start<Upstream>("upstream");
await using ours = await Remote.start<Forwarded>("forwarded", FLAGS);
await using bare = await Remote.start<Relay>("relay", FLAGS);
await upstream.ask("use", body);
const behind = await upstream.ask("listen");
await using nginx = await startNginx(behind);
const port: Readonly<Record<string, number>> = {
  ours: await ours.ask("listen", { port: behind }),
  bare: await bare.ask("listen", behind),
  direct: behind,
  ...(nginx && { nginx: nginx.port }),
};
const names = Object.keys(port);

// Memory first: what lists add to a server that has passed none on yet.
const idle = await ours.ask("memory");
await ours.ask("startSampling");
const answer: Record<string, Answer> = { ours: await checked("ours") };
await load({
  port: port["ours"] ?? 0,
  request,
  expected: answer["ours"] as Answer,
  connections: 8,
  milliseconds: short ? 2500 : 4000,
});
const peak = await ours.ask("stopSampling");

for (const name of names) answer[name] ??= await checked(name);
await interleave(names, 1, measure);
const rounds = await interleave(names, ROUNDS, measure);

const rival = "node:http, undici dispatch";
report("forward-list", [
  figure({
    what: "bytes per second",
    value: rounds.ratio(["ours", "bare"], "rate"),
    unit: "ratio",
    rival,
    atLeast: 0.8,
  }),
  figure({ what: "CPU per byte", value: rounds.ratio(["ours", "bare"], "cpu"), unit: "ratio", rival }),
  figure({
    what: "growth of RSS, 8 lists at a time",
    value: (peak.rss - idle.rss) / MIB,
    unit: "MiB",
    rival: "before the first list",
    below: 64,
  }),
  ...names
    .filter((name) => name !== "ours" && name !== "bare")
    .map((name) =>
      figure({
        what: "bytes per second",
        value: rounds.ratio(["ours", name], "rate"),
        unit: "ratio",
        rival: name === "direct" ? "the upstream itself" : "nginx, one worker",
      }),
    ),
  ...names.map((name) =>
    figure({ what: `bytes per second, ${name}`, value: rounds.of(name, "rate") / MIB, unit: "MiB/s" }),
  ),
]);

async function measure(name: string): Promise<{ rate: number; cpu: number }> {
  const before = await cpuOf(name);
  const terms = { port: port[name] ?? 0, request, expected: answer[name] as Answer, connections: 4 };
  const { answers, seconds } = await load({ ...terms, milliseconds: 600 });
  return { rate: (answers * body.length) / seconds, cpu: ((await cpuOf(name)) - before) / answers };
}

/** Of the two that are processes of ours; nothing of the others. */
async function cpuOf(name: string): Promise<number> {
  if (name === "ours") return ours.ask("cpu");
  return name === "bare" ? bare.ask("cpu") : 0;
}

async function checked(name: string): Promise<Answer> {
  const found = await fetchOnce(port[name] ?? 0, request);
  assert.equal(found.status, 200);
  assert.ok(found.body.equals(body), `${name} sends other bytes than the upstream`);
  return found;
}

function widgetList(): Buffer {
  const items = Array.from({ length: COUNT }, (_, n) => {
    const name = `w${String(n).padStart(5, "0")}`;
    const item = { apiVersion: "bench.example/v1", kind: "Widget", metadata: { name, resourceVersion: String(n + 1) } };
    return { ...item, spec: { text: "x".repeat(SIZE - JSON.stringify({ ...item, spec: { text: "" } }).length) } };
  });
  const list = { apiVersion: "bench.example/v1", kind: "WidgetList", metadata: { resourceVersion: "20000" }, items };
  return Buffer.from(JSON.stringify(list));
}
