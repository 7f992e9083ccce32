// GET of a 2 KiB object that another server has, against a bare handler that passes it on by undici's dispatch
import assert from "node:assert/strict";
import { fetchOnce, getRequest, load } from "./_harness/http.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Forwarded } from "./_servers/forwarded.ts";
import type { Relay } from "./_servers/relay.ts";
import type { Upstream } from "./_servers/upstream.ts";

const SIZE = 2048;
const short = process.argv.includes("--short");
const ROUNDS = short ? 10 : 20;
/** As long as it takes to compile what is run: we have more of it than the relay, ms. */
const WARM = 4000;
const NAMES = ["ours", "bare"] as const;
type Name = (typeof NAMES)[number];

const path = "/services/bench/apis/bench.example/v1/widgets/w00000";
const request = getRequest(path, { Authorization: "Bearer bench-token", Accept: "application/json" });

await using upstream = await Remote.start<Upstream>("upstream");
await using ours = await Remote.start<Forwarded>("forwarded");
await using bare = await Remote.start<Relay>("relay");

const metadata = { name: "w00000", uid: "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e", resourceVersion: "12345" };
const object = { apiVersion: "bench.example/v1", kind: "Widget", metadata, spec: { text: "" } };
object.spec.text = "x".repeat(SIZE - JSON.stringify(object).length);
const body = Buffer.from(JSON.stringify(object));
await upstream.ask("use", body);
const behind = await upstream.ask("listen");
const port = { ours: await ours.ask("listen", { port: behind }), bare: await bare.ask("listen", behind) };
const answer = { ours: await checked("ours"), bare: await checked("bare") };
assert.equal((await fetchOnce(port.ours, getRequest(path))).status, 401, "token authentication is off");
const servers: Readonly<Record<Name, Measurable>> = { ours, bare };

await interleave(NAMES, 1, (name) => measure(name, WARM));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 300));

const rival = "node:http, undici dispatch";
report("forward-get", [
  figure({ what: "CPU per request", value: rounds.ratio(NAMES, "cpu"), unit: "ratio", rival, atMost: 1.3 }),
  figure({ what: "CPU per request", value: rounds.of("ours", "cpu"), unit: "µs" }),
  figure({ what: "CPU per request of the bare relay", value: rounds.of("bare", "cpu"), unit: "µs" }),
]);

/** CPU that one request costs the server in between, µs. */
async function measure(name: Name, milliseconds: number): Promise<{ cpu: number }> {
  const before = await servers[name].ask("cpu");
  const terms = { port: port[name], request, expected: answer[name], connections: 16, milliseconds };
  const { answers } = await load(terms);
  return { cpu: ((await servers[name].ask("cpu")) - before) / answers };
}

async function checked(name: Name) {
  const found = await fetchOnce(port[name], request);
  assert.equal(found.status, 200);
  assert.ok(found.body.equals(body), `${name} sends other bytes than the upstream`);
  return found;
}
