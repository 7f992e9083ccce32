// GET of 2 KiB through a view that passes it on, against a bare relay by undici's dispatch, http-proxy, nginx and the direct way
import assert from "node:assert/strict";
import { checked } from "./_harness/checked.ts";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { startNginx } from "./_harness/nginx.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { HttpProxied } from "./_servers/http-proxied.ts";
import type { MountedWorkspace } from "./_servers/mounted-workspace.ts";
import type { Proxied } from "./_servers/proxied.ts";
import type { Relay } from "./_servers/relay.ts";
import type { Upstream } from "./_servers/upstream.ts";

const SIZE = 2048;
const short = process.argv.includes("--short");
const ROUNDS = short ? 10 : 20;
/** As long as it takes to compile what is run, ms. */
const WARM = short ? 500 : 4000;
const WIDGET = "/apis/bench.example/v1/widgets/w00000";
const headers = { Authorization: "Bearer bench-token", Accept: "application/json" };

await using upstream = await Remote.start<Upstream>("upstream");
await using ours = await Remote.start<Proxied>("proxied");
await using mounted = await Remote.start<MountedWorkspace>("mounted-workspace");
await using bare = await Remote.start<Relay>("relay");
await using package_ = await Remote.start<HttpProxied>("http-proxied");

const metadata = { name: "w00000", uid: "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e", resourceVersion: "12345" };
const object = { apiVersion: "bench.example/v1", kind: "Widget", metadata, spec: { text: "" } };
object.spec.text = "x".repeat(SIZE - JSON.stringify(object).length);
const body = Buffer.from(JSON.stringify(object));
await upstream.ask("use", body);
const behind = await upstream.ask("listen");
await using nginx = await startNginx(behind);
const servers: Readonly<Record<string, Measurable>> = { ours, mounted, bare, "http-proxy": package_ };
const workspace = await mounted.ask("listen", behind);
const port: Readonly<Record<string, number>> = {
  ours: await ours.ask("listen", behind),
  mounted: workspace.port,
  bare: await bare.ask("listen", behind),
  "http-proxy": await package_.ask("listen", behind),
  direct: behind,
  ...(nginx && { nginx: nginx.port }),
};
const names = Object.keys(port);
/** Where each has what the other server has. */
const prefix: Readonly<Record<string, string>> = { ours: "/services/mount", mounted: workspace.path };
const requestTo = (name: string): Buffer => getRequest((prefix[name] ?? "") + WIDGET, headers);
const answer: Record<string, Answer> = {};
for (const name of names) answer[name] = await checked(name, { port: port[name] ?? 0, request: requestTo(name), body });
assert.equal((await fetchOnce(port["ours"] ?? 0, getRequest(`/services/mount${WIDGET}`))).status, 401);

await interleave(names, 1, (name) => measure(name, WARM));
const rounds = await interleave(names, ROUNDS, (name) => measure(name, 300));

const rival = "node:http, undici dispatch";
const what = "CPU per request";
report("mount-get", [
  figure({ what, value: rounds.ratio(["ours", "bare"], "cpu"), unit: "ratio", rival, atMost: 1.4 }),
  figure({ what, value: rounds.ratio(["ours", "http-proxy"], "cpu"), unit: "ratio", rival: "http-proxy", below: 1 }),
  figure({ what: `${what}, mounted`, value: rounds.ratio(["mounted", "bare"], "cpu"), unit: "ratio", rival }),
  ...Object.keys(servers).map((name) =>
    figure({ what: `${what}, ${name}`, value: rounds.of(name, "cpu"), unit: "µs" }),
  ),
  ...names
    .filter((name) => name !== "ours")
    .map((name) =>
      figure({ what: "requests per second", value: rounds.ratio(["ours", name], "rate"), unit: "ratio", rival: name }),
    ),
]);

async function measure(name: string, milliseconds: number): Promise<{ cpu: number; rate: number }> {
  const before = await cpuOf(name);
  const terms = { port: port[name] ?? 0, request: requestTo(name), expected: answer[name] as Answer, connections: 16 };
  const { answers, seconds } = await load({ ...terms, milliseconds });
  return { cpu: ((await cpuOf(name)) - before) / answers, rate: answers / seconds };
}

/** Of those that are processes of ours and not the other server; nothing of the others. */
async function cpuOf(name: string): Promise<number> {
  return (await servers[name]?.ask("cpu")) ?? 0;
}
