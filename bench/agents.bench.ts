// thousands of agents whose hub is gone, and is there again: how soon they all are, and how many come at once
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "@virtual-workspaces/client";
import { clusterProxyManifests } from "@virtual-workspaces/cluster-proxy";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { APIBinding, CLUSTER_PROXY_EXPORT, ClusterProxy } from "@virtual-workspaces/kcp";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import type { Agents } from "./_servers/agents.ts";
import type { AgentsHub } from "./_servers/agents-hub.ts";
import type { Shard } from "./_servers/shard.ts";

const short = process.argv.includes("--short");
const { values } = parseArgs({ strict: false, options: { agents: { type: "string", default: "1200" } } });
const AGENTS = short ? 60 : Number(values.agents);
/** How long the hub is away, ms: so that waits have grown by then. */
const AWAY = short ? 1_000 : 8_000;

await using shard = await Remote.start<Shard>("shard");
const { port } = await shard.ask("listen", 1);
await using root = new Client({ upstream: { url: `http://127.0.0.1:${port}` }, cluster: "root" });
for (const { apiVersion, kind, ...object } of clusterProxyManifests()) {
  const [group = "", version = ""] = apiVersion.split("/");
  const plural = `${kind.toLowerCase()}s`;
  await root.resource({ group, version, kind, plural, scope: "Cluster" }).create(object as never);
}
const bindings = root.resource(APIBinding);
const reference = { export: { path: "root", name: CLUSTER_PROXY_EXPORT } };
await bindings.create({ metadata: { name: "remote" }, spec: { reference } });
for await (const { type, object } of bindings.watch({ fields: "metadata.name=remote" }))
  if (type !== "BOOKMARK" && (object as APIBinding).status?.phase === "Bound") break;
const names = Array.from({ length: AGENTS }, (_, at) => `cluster-${at}`);
const left = [...names];
const make = async (): Promise<void> => {
  for (let name = left.pop(); name !== undefined; name = left.pop())
    await root.resource(ClusterProxy).create({ metadata: { name } });
};
await Promise.all(Array.from({ length: 16 }, make));

const now = new Date();
const authority = await issueCertificate({ subject: { name: "ca", groups: [] }, purpose: { kind: "authority" }, now });
const purpose = { kind: "server", hosts: ["localhost"], addresses: ["127.0.0.1"] } as const;
const tls = await issueCertificate({ subject: { name: "hub", groups: [] }, purpose, now }, authority);
const first = await Remote.start<AgentsHub>("agents-hub");
const hub = await first.ask("listen", { shard: port, port: 0, tls });
await using agents = await Remote.start<Agents>("agents");
const enrolled = await agents.ask("enrol", { hub: `https://127.0.0.1:${hub}`, ca: authority.cert, names });

const before = await agents.ask("cpu");
await first[Symbol.asyncDispose]();
await agents.ask("until", 0);
await pause(AWAY);
await using again = await Remote.start<AgentsHub>("agents-hub");
await agents.ask("count");
await again.ask("listen", { shard: port, port: hub, tls });
const begun = performance.now();
const dials = await agents.ask("until", AGENTS);
const seconds = (performance.now() - begun) / 1000;
const used = ((await agents.ask("cpu")) - before) / 1000 / AGENTS;
const perSecond = new Map<number, number>();
for (const at of dials) perSecond.set(Math.floor(at / 1000), (perSecond.get(Math.floor(at / 1000)) ?? 0) + 1);
const busiest = Math.max(...perSecond.values());
assert.ok(dials.length >= AGENTS);

report("agents", [
  figure({ what: "agents that are back after their hub's restart", value: AGENTS, unit: "count", atLeast: AGENTS }),
  figure({ what: "until all are, from when it listens again", value: seconds, unit: "s", atMost: 60 }),
  figure({
    what: "dials in the busiest second",
    value: busiest / AGENTS,
    unit: "ratio",
    rival: "all of them at once",
    atMost: 0.5,
  }),
  figure({
    what: "dials of an agent until then",
    value: dials.length / AGENTS,
    unit: "count",
    rival: "one",
    atMost: 1.5,
  }),
  figure({ what: "CPU of an agent meanwhile", value: used, unit: "ms" }),
  figure({ what: "until all were enrolled, 32 at a time", value: enrolled / 1000, unit: "s" }),
]);
