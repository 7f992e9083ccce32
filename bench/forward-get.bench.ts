// GET of a 2 KiB object that another server has, against a bare handler that passes it on by undici's dispatch
import assert from "node:assert/strict";
import { checked } from "./_harness/checked.ts";
import { fetchOnce, getRequest, load } from "./_harness/http.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { ExportUpstream } from "./_servers/export-upstream.ts";
import type { Forwarded } from "./_servers/forwarded.ts";
import type { Relay } from "./_servers/relay.ts";
import type { ThroughExport } from "./_servers/through-export.ts";
import type { Upstream } from "./_servers/upstream.ts";

const SIZE = 2048;
const short = process.argv.includes("--short");
const ROUNDS = short ? 10 : 20;
/** As long as it takes to compile what is run: we have more of it than the relay, ms. */
const WARM = 4000;
const NAMES = ["ours", "bare", "view"] as const;
type Name = (typeof NAMES)[number];

const path = "/services/bench/apis/bench.example/v1/widgets/w00000";
const AT_VIEW = "/services/apiexport/provider/export-0/clusters/consumer-0/apis/bench.example/v1/widgets/w00000";
const headers = { Authorization: "Bearer bench-token", Accept: "application/json" };
const request = {
  ours: getRequest(path, headers),
  bare: getRequest(path, headers),
  view: getRequest(AT_VIEW, headers),
};

await using upstream = await Remote.start<Upstream>("upstream");
await using ours = await Remote.start<Forwarded>("forwarded");
await using bare = await Remote.start<Relay>("relay");
await using exporting = await Remote.start<ExportUpstream>("export-upstream");
await using view = await Remote.start<ThroughExport>("through-export");

const metadata = { name: "w00000", uid: "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e", resourceVersion: "12345" };
const object = { apiVersion: "bench.example/v1", kind: "Widget", metadata, spec: { text: "" } };
object.spec.text = "x".repeat(SIZE - JSON.stringify(object).length);
const body = Buffer.from(JSON.stringify(object));
await upstream.ask("use", body);
const behind = await upstream.ask("listen");
await exporting.ask("makeExports", 1);
await exporting.ask("bind", { count: 1, among: 1 });
await exporting.ask("use", body);
const port = {
  ours: await ours.ask("listen", { port: behind }),
  bare: await bare.ask("listen", behind),
  view: await view.ask("listen", await exporting.ask("listen")),
};
const answer = {
  ours: await checked("ours", { port: port.ours, request: request.ours, body }),
  bare: await checked("bare", { port: port.bare, request: request.bare, body }),
  view: await checked("view", { port: port.view, request: request.view, body }),
};
const other = getRequest(AT_VIEW.replace("consumer-0", "consumer-1"), headers);
assert.equal((await fetchOnce(port.view, other)).status, 403, "the view does not look whether the export is bound");
assert.equal((await fetchOnce(port.ours, getRequest(path))).status, 401, "token authentication is off");
const servers: Readonly<Record<Name, Measurable>> = { ours, bare, view };

await interleave(NAMES, 1, (name) => measure(name, WARM));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 300));

const rival = "node:http, undici dispatch";
assert.ok((await exporting.ask("reviews")) > 0, "nobody was asked whether the caller may");
report("forward-get", [
  figure({ what: "CPU per request", value: rounds.ratio(["ours", "bare"], "cpu"), unit: "ratio", rival, atMost: 1.3 }),
  figure({
    what: "CPU per request through the view of an export",
    value: rounds.ratio(["view", "ours"], "cpu"),
    unit: "ratio",
    rival: "forwarded without it",
    atMost: 1.5,
  }),
  figure({ what: "CPU per request", value: rounds.of("ours", "cpu"), unit: "µs" }),
  figure({ what: "CPU per request through the view of an export", value: rounds.of("view", "cpu"), unit: "µs" }),
  figure({ what: "CPU per request of the bare relay", value: rounds.of("bare", "cpu"), unit: "µs" }),
]);

/** CPU that one request costs the server in between, µs. */
async function measure(name: Name, milliseconds: number): Promise<{ cpu: number }> {
  const before = await servers[name].ask("cpu");
  const terms = { port: port[name], request: request[name], expected: answer[name], connections: 16, milliseconds };
  const { answers } = await load(terms);
  return { cpu: ((await servers[name].ask("cpu")) - before) / answers };
}
