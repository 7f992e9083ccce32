// GET of a 2 KiB object with an audit log (level Metadata, to a file) and with metrics, against the same without
import assert from "node:assert/strict";
import { fetchOnce, getRequest, load } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Observed } from "./_servers/observed.ts";

const ROUNDS = 20;
const NAMES = ["plain", "audit", "stages", "metrics"] as const;
type Name = (typeof NAMES)[number];

const token = { Authorization: "Bearer bench-token" };
const request = getRequest("/services/bench/apis/bench.example/v1/widgets/w", {
  ...token,
  Accept: "application/json",
  "User-Agent": "kubectl/v1.37.0 (linux/amd64) kubernetes/0000000",
});

await using plain = await Remote.start<Observed>("observed");
await using audited = await Remote.start<Observed>("observed");
await using staged = await Remote.start<Observed>("observed");
await using metered = await Remote.start<Observed>("observed");
const servers: Readonly<Record<Name, Remote<Observed>>> = { plain, audit: audited, stages: staged, metrics: metered };
const ports: Readonly<Record<Name, number>> = {
  plain: await plain.ask("listen", {}),
  audit: await audited.ask("listen", { audit: "ends" }),
  stages: await staged.ask("listen", { audit: "every-stage" }),
  metrics: await metered.ask("listen", { metrics: true }),
};
const expected = await fetchOnce(ports.plain, request);
assert.equal(expected.status, 200);
assert.equal(JSON.parse(expected.body.toString()).metadata.name, "w");

await interleave(NAMES, 1, (name) => measure(name, 1500));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 250));
await checkWatched();

report("audit", [
  figure({
    what: "CPU per GET, audit on (Metadata)",
    value: rounds.ratio(["audit", "plain"], "cpu"),
    unit: "ratio",
    rival: "audit off",
    atMost: 1.3,
  }),
  figure({
    what: "CPU per GET, audit on, RequestReceived too",
    value: rounds.ratio(["stages", "plain"], "cpu"),
    unit: "ratio",
    rival: "audit off",
    atMost: 1.3,
  }),
  figure({
    what: "CPU per GET, metrics on",
    value: rounds.ratio(["metrics", "plain"], "cpu"),
    unit: "ratio",
    rival: "metrics off",
    atMost: 1.1,
  }),
  figure({ what: "CPU per GET", value: rounds.of("plain", "cpu"), unit: "µs" }),
  figure({ what: "CPU per GET, audit on", value: rounds.of("audit", "cpu"), unit: "µs" }),
  figure({ what: "CPU per GET, metrics on", value: rounds.of("metrics", "cpu"), unit: "µs" }),
]);

/** CPU that one request costs the server, µs. */
async function measure(name: Name, milliseconds: number): Promise<{ cpu: number }> {
  const own = await fetchOnce(ports[name], request);
  const before = await servers[name].ask("cpu");
  const { answers } = await load({ port: ports[name], request, expected: own, connections: 16, milliseconds });
  return { cpu: ((await servers[name].ask("cpu")) - before) / answers };
}

/** What was measured was watched. */
async function checkWatched(): Promise<void> {
  const lines = [...(await audited.ask("close")), ...(await staged.ask("close"))];
  for (const line of lines) {
    const { verb, objectRef, user } = JSON.parse(line);
    assert.deepEqual([verb, objectRef.name, user.username], ["get", "w", "alice"]);
  }
  const { body } = await fetchOnce(ports.metrics, getRequest("/metrics", token));
  const counted = /^apiserver_request_total\{.*resource="widgets".*code="200"\} (\d+)$/m.exec(body.toString())?.[1];
  assert.ok(Number(counted) > 1000, `${counted} requests are counted`);
}
