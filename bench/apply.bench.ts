// server-side apply and merge patch of a 2 KiB object that change one field, against an update of the same
import assert from "node:assert/strict";
import { type Answer, fetchOnce } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { writeLoad, writeRequest } from "./_harness/writes.ts";
import type { Written } from "./_servers/written.ts";
import { writtenObject } from "./_servers/written-kinds.ts";

const SIZE = 2048;
const ROUNDS = 15;
const CONNECTIONS = 16;
const NAMES = ["update", "apply", "nothing", "merge"] as const;
type Name = (typeof NAMES)[number];

const TOKEN = { Authorization: "Bearer bench-token" };
const PATH = "/services/bench/apis/bench.example/v1/ruleds";

await using server = await Remote.start<Written>("written");
const port = await server.ask("listen");
for (let n = 0; n < CONNECTIONS; n++) {
  const { status, body } = await fetchOnce(port, apply(n, 3));
  assert.equal(status, 201, body.toString());
}
await check();

await interleave(NAMES, 1, (name) => measure(name, 1500));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 250));

const rival = "update of the same";
report("apply", [
  figure({
    what: "CPU per apply that changes a field",
    value: rounds.ratio(["apply", "update"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1.25,
  }),
  figure({
    what: "CPU per apply that changes nothing",
    value: rounds.ratio(["nothing", "update"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1,
  }),
  figure({
    what: "CPU per merge patch that changes a field",
    value: rounds.ratio(["merge", "update"], "cpu"),
    unit: "ratio",
    rival,
    atMost: 1,
  }),
  figure({ what: "CPU per update", value: rounds.of("update", "cpu"), unit: "µs" }),
  figure({ what: "CPU per apply", value: rounds.of("apply", "cpu"), unit: "µs" }),
]);

function config(n: number, replicas: number): string {
  const object = writtenObject("Ruled", { name: `w${n}` }, SIZE) as { spec: { replicas: number } };
  object.spec.replicas = replicas;
  return JSON.stringify(object);
}

function apply(n: number, replicas: number): Buffer {
  const headers = { ...TOKEN, "Content-Type": "application/apply-patch+yaml" };
  return writeRequest(`PATCH ${PATH}/w${n}?fieldManager=bench&force=true`, config(n, replicas), headers);
}

function merge(n: number, replicas: number): Buffer {
  const headers = { ...TOKEN, "Content-Type": "application/merge-patch+json" };
  return writeRequest(`PATCH ${PATH}/w${n}?fieldManager=bench-update`, `{"spec":{"replicas":${replicas}}}`, headers);
}

function update(n: number, last: Answer | undefined, replicas: number): Buffer {
  if (last === undefined) return writeRequest(`GET ${PATH}/w${n}`, "", TOKEN);
  const body = last.body.toString().replace(/"replicas":\d+/, `"replicas":${replicas}`);
  const headers = { ...TOKEN, "Content-Type": "application/json" };
  return writeRequest(`PUT ${PATH}/w${n}?fieldManager=bench-update`, body, headers);
}

/** CPU that one write costs the server, µs. Each connection writes an object of its own. */
async function measure(name: Name, milliseconds: number): Promise<{ cpu: number }> {
  const before = await server.ask("cpu");
  let step = 0;
  const answers = await writeLoad({
    port,
    connections: CONNECTIONS,
    milliseconds,
    next: (n, last) => {
      assert.equal(last?.status ?? 200, 200, last?.body.toString());
      step += 1;
      if (name === "nothing") return apply(n, 7);
      const replicas = 1 + (step % 500);
      if (name === "merge") return merge(n, replicas);
      return name === "apply" ? apply(n, replicas) : update(n, last, replicas);
    },
  });
  return { cpu: ((await server.ask("cpu")) - before) / answers };
}

async function check(): Promise<void> {
  const first = JSON.parse((await fetchOnce(port, apply(0, 5))).body.toString());
  assert.equal(first.spec.replicas, 5);
  assert.deepEqual(
    first.metadata.managedFields.map(({ operation, manager }: Record<string, string>) => `${operation} ${manager}`),
    ["Apply bench"],
  );
  const again = JSON.parse((await fetchOnce(port, apply(0, 5))).body.toString());
  assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion, "the same again is no change");
  const got = await fetchOnce(port, writeRequest(`GET ${PATH}/w0`, "", TOKEN));
  const patched = JSON.parse((await fetchOnce(port, merge(1, 9))).body.toString());
  assert.deepEqual([patched.metadata.name, patched.spec.replicas], ["w1", 9]);
  const put = JSON.parse((await fetchOnce(port, update(0, got, 6))).body.toString());
  assert.equal(put.spec.replicas, 6);
  assert.notEqual(put.metadata.resourceVersion, first.metadata.resourceVersion);
}
