// LIST of 20 MB that another server has, against a bare relay by undici, with nginx and the direct way beside it
import assert from "node:assert/strict";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { startNginx } from "./_harness/nginx.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { ExportUpstream } from "./_servers/export-upstream.ts";
import type { Forwarded } from "./_servers/forwarded.ts";
import type { Relay } from "./_servers/relay.ts";
import type { ThroughExport } from "./_servers/through-export.ts";
import type { Upstream } from "./_servers/upstream.ts";

const COUNT = 10_000;
const SIZE = 2048;
const short = process.argv.includes("--short");
const ROUNDS = short ? 4 : 9;
const MIB = 2 ** 20;
/** Both do better with it: what passes through is garbage at once, and is not carried from space to space. */
const FLAGS = ["--expose-gc", "--max-semi-space-size=1"];

const WIDGETS = "/apis/bench.example/v1/widgets";
const headers = { Authorization: "Bearer bench-token", Accept: "application/json" };
const plain = getRequest(`/services/bench${WIDGETS}`, headers);
const wildcard = getRequest(`/services/apiexport/provider/export-0/clusters/*${WIDGETS}`, headers);
const requestTo = (name: string) => (name === "view" ? wildcard : plain);
const body = widgetList();

await using upstream = await Remote.start<Upstream>("upstream");
await using ours = await Remote.start<Forwarded>("forwarded", FLAGS);
await using bare = await Remote.start<Relay>("relay", FLAGS);
await using exporting = await Remote.start<ExportUpstream>("export-upstream");
await using view = await Remote.start<ThroughExport>("through-export", FLAGS);
await upstream.ask("use", body);
await exporting.ask("makeExports", 1);
await exporting.ask("bind", { count: 1, among: 1 });
await exporting.ask("use", body);
const behind = await upstream.ask("listen");
await using nginx = await startNginx(behind);
const port: Readonly<Record<string, number>> = {
  ours: await ours.ask("listen", { port: behind }),
  bare: await bare.ask("listen", behind),
  view: await view.ask("listen", await exporting.ask("listen")),
  direct: behind,
  ...(nginx && { nginx: nginx.port }),
};
const names = Object.keys(port);

// Memory first: what lists add to a server that has passed none on yet.
const answer: Record<string, Answer> = {};
const growth = { ours: await grown("ours"), view: await grown("view") };

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
    value: growth.ours,
    unit: "MiB",
    rival: "before the first list",
    below: 64,
  }),
  figure({
    what: "bytes per second of all workspaces, through the view of an export",
    value: rounds.ratio(["view", "direct"], "rate"),
    unit: "ratio",
    rival: "the upstream itself",
    atLeast: 0.7,
  }),
  figure({
    what: "the same",
    value: rounds.ratio(["view", "ours"], "rate"),
    unit: "ratio",
    rival: "forwarded without it",
  }),
  figure({
    what: "CPU per byte, the same",
    value: rounds.ratio(["view", "ours"], "cpu"),
    unit: "ratio",
    rival: "forwarded without it",
  }),
  figure({
    what: "growth of RSS, the same",
    value: growth.view,
    unit: "MiB",
    rival: "before the first list",
    below: 64,
  }),
  ...names
    .filter((name) => name === "direct" || name === "nginx")
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

/** By how much a server grows that passes on eight lists at a time, MiB. */
async function grown(name: "ours" | "view"): Promise<number> {
  const server = name === "ours" ? ours : (view as unknown as typeof ours);
  const idle = await server.ask("memory");
  await server.ask("startSampling");
  answer[name] = await checked(name);
  const terms = { port: port[name] ?? 0, request: requestTo(name), expected: answer[name], connections: 8 };
  await load({ ...terms, milliseconds: short ? 1500 : 4000 });
  return ((await server.ask("stopSampling")).rss - idle.rss) / MIB;
}

async function measure(name: string): Promise<{ rate: number; cpu: number }> {
  const before = await cpuOf(name);
  const terms = { port: port[name] ?? 0, request: requestTo(name), expected: answer[name] as Answer, connections: 4 };
  const { answers, seconds } = await load({ ...terms, milliseconds: 600 });
  return { rate: (answers * body.length) / seconds, cpu: ((await cpuOf(name)) - before) / answers };
}

/** Of those that are processes of ours; nothing of the others. */
async function cpuOf(name: string): Promise<number> {
  if (name === "ours") return ours.ask("cpu");
  if (name === "view") return view.ask("cpu");
  return name === "bare" ? bare.ask("cpu") : 0;
}

async function checked(name: string): Promise<Answer> {
  const found = await fetchOnce(port[name] ?? 0, requestTo(name));
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
