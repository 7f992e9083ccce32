// the view of workspaces that are set up: a GET of 2 KiB in one of them against a bare handler, and what it keeps of each that waits
import assert from "node:assert/strict";
import { checked } from "./_harness/checked.ts";
import { fetchOnce, getRequest, load } from "./_harness/http.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { ExportUpstream } from "./_servers/export-upstream.ts";
import type { Relay } from "./_servers/relay.ts";
import type { ThroughLifecycle } from "./_servers/through-lifecycle.ts";

const SIZE = 2048;
const short = process.argv.includes("--short");
const ROUNDS = short ? 10 : 20;
const WAITING = short ? 1_000 : 5_000;
const KIB = 1024;
/** As long as it takes to compile what is run, ms. */
const WARM = 4000;
const NAMES = ["view", "bare"] as const;
type Name = (typeof NAMES)[number];

const BASE = "/services/initializingworkspaces/provider:shop/clusters/";
const WIDGET = "/apis/bench.example/v1/widgets/w00000";
const headers = { Authorization: "Bearer bench-token", Accept: "application/json" };
const asked = (cluster: string, path = WIDGET) => getRequest(`${BASE}${cluster}${path}`, headers);
const metadata = { name: "w00000", uid: "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e", resourceVersion: "12345" };
const object = { apiVersion: "bench.example/v1", kind: "Widget", metadata, spec: { text: "" } };
object.spec.text = "x".repeat(SIZE - JSON.stringify(object).length);
const body = Buffer.from(JSON.stringify(object));

const few = await weighed(1);
const many = await weighed(1 + WAITING);

await using upstream = await Remote.start<ExportUpstream>("export-upstream");
await using view = await Remote.start<ThroughLifecycle>("through-lifecycle");
await using bare = await Remote.start<Relay>("relay");
await upstream.ask("wait", 1);
await upstream.ask("use", body);
const behind = await upstream.ask("listen");
const port = { view: await view.ask("listen", behind), bare: await bare.ask("listen", behind) };
const request = { view: asked("consumer-0"), bare: getRequest(`/clusters/consumer-0${WIDGET}`, headers) };
const answer = {
  view: await checked("view", { port: port.view, request: request.view, body }),
  bare: await checked("bare", { port: port.bare, request: request.bare, body }),
};
await refuses(port.view, "consumer-1");
const servers: Readonly<Record<Name, Measurable>> = { view, bare };
await interleave(NAMES, 1, (name) => measure(name, WARM));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 300));

const rival = "node:http, undici dispatch";
report("lifecycle", [
  figure({
    what: "CPU per GET in a workspace that waits",
    value: rounds.ratio(["view", "bare"], "cpu"),
    unit: "ratio",
    rival,
  }),
  figure({ what: "CPU per GET in a workspace that waits", value: rounds.of("view", "cpu"), unit: "µs" }),
  figure({ what: "CPU per GET of the bare relay", value: rounds.of("bare", "cpu"), unit: "µs" }),
  figure({
    what: `heap and buffers per workspace that waits, of ${WAITING.toLocaleString("en")}`,
    value: (many - few) / WAITING / KIB,
    unit: "KiB",
  }),
]);

/** What the view holds with so many that wait. */
async function weighed(count: number): Promise<number> {
  await using there = await Remote.start<ExportUpstream>("export-upstream");
  await using over = await Remote.start<ThroughLifecycle>("through-lifecycle", ["--expose-gc"]);
  await there.ask("wait", count);
  await there.ask("use", body);
  const at = await over.ask("listen", await there.ask("listen"));
  assert.equal((await fetchOnce(at, asked(`consumer-${count - 1}`))).status, 200);
  await refuses(at, `consumer-${count}`);
  return (await over.ask("memory")).held;
}

/** One that does not wait is refused, and so is what the type says nothing of. */
async function refuses(at: number, other: string): Promise<void> {
  assert.equal((await fetchOnce(at, asked(other))).status, 403);
  assert.equal((await fetchOnce(at, asked("consumer-0", "/apis/bench.example/v1/widgets"))).status, 403);
}

/** CPU that one request costs the server in between, µs. */
async function measure(name: Name, milliseconds: number): Promise<{ cpu: number }> {
  const before = await servers[name].ask("cpu");
  const terms = { port: port[name], request: request[name], expected: answer[name], connections: 16, milliseconds };
  const { answers } = await load(terms);
  return { cpu: ((await servers[name].ask("cpu")) - before) / answers };
}
