// create of a ConfigMap in a namespace with a quota, and where another workspace has one, against none
import assert from "node:assert/strict";
import { fetchOnce } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { writeLoad, writeRequest } from "./_harness/writes.ts";
import type { Admission } from "./_servers/admission.ts";

const ROUNDS = 30;
const NAMES = ["none", "elsewhere", "limited"] as const;
type Name = (typeof NAMES)[number];

const HEADERS = { Authorization: "Bearer bench-token", "Content-Type": "application/json" };
const NAMESPACE = "/clusters/root/api/v1/namespaces/default";
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "m-" }, data: { text: "x".repeat(1900) } };
const request = writeRequest(`POST ${NAMESPACE}/configmaps`, JSON.stringify(map), HEADERS);

await using none = await Remote.start<Admission>("admission");
await using elsewhere = await Remote.start<Admission>("admission");
await using limited = await Remote.start<Admission>("admission");
const servers: Readonly<Record<Name, Remote<Admission>>> = { none, elsewhere, limited };
const ports: Readonly<Record<Name, number>> = {
  none: await none.ask("listen"),
  elsewhere: await elsewhere.ask("listen"),
  limited: await limited.ask("listen"),
};
await post("elsewhere", "/clusters/system:admin/api/v1/namespaces", {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "default" },
});
await limit("elsewhere", "/clusters/system:admin/api/v1/namespaces/default");
await limit("limited", NAMESPACE);
await check();
await interleave(NAMES, 1, (name) => measure(name, 2000));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 250));

const rival = "no quota on the server";
report("quotas", [
  figure({
    what: "CPU per create, a quota in the namespace",
    value: rounds.ratio(["limited", "none"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1.05,
  }),
  figure({
    what: "creates per second, a quota in the namespace",
    value: rounds.ratio(["limited", "none"], "rate"),
    unit: "ratio",
    rival,
    atLeast: 0.95,
  }),
  figure({
    what: "CPU per create, a quota in another workspace",
    value: rounds.ratio(["elsewhere", "none"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1.03,
  }),
  figure({ what: "CPU per create without quotas", value: rounds.of("none", "cpu"), unit: "µs" }),
]);

/** Creates a quota that is never reached, and one that nothing fits into. */
async function limit(name: Name, namespace: string): Promise<void> {
  for (const [quota, hard] of Object.entries({ large: { "count/configmaps": "1M" }, none: { "count/secrets": "0" } })) {
    const object = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: quota }, spec: { hard } };
    await post(name, `${namespace}/resourcequotas`, object);
  }
}

async function post(name: Name, path: string, object: object): Promise<void> {
  const sent = writeRequest(`POST ${path}`, JSON.stringify(object), HEADERS);
  const { status, body } = await fetchOnce(ports[name], sent);
  assert.equal(status, 201, body.toString());
}

/** The quotas work where they are. */
async function check(): Promise<void> {
  const secret = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { generateName: "s-" } });
  for (const name of NAMES) {
    const sent = writeRequest(`POST ${NAMESPACE}/secrets?dryRun=All`, secret, HEADERS);
    const { status } = await fetchOnce(ports[name], sent);
    assert.equal(status, name === "limited" ? 403 : 201, name);
  }
}

/** CPU that one create costs the server, µs, and creates per second. */
async function measure(name: Name, milliseconds: number): Promise<{ cpu: number; rate: number }> {
  const before = await servers[name].ask("cpu");
  const answers = await writeLoad({
    port: ports[name],
    connections: 16,
    milliseconds,
    next: (_connection, last) => {
      assert.equal(last?.status ?? 201, 201);
      return request;
    },
  });
  return { cpu: ((await servers[name].ask("cpu")) - before) / answers, rate: (answers * 1000) / milliseconds };
}
