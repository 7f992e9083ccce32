// create of a 2 KiB object with a schema and a CEL rule, against the same without; large objects; many schemas
import assert from "node:assert/strict";
import { fetchOnce } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { writeLoad, writeRequest } from "./_harness/writes.ts";
import type { Written } from "./_servers/written.ts";
import { writtenObject } from "./_servers/written-kinds.ts";

const SIZE = 2048;
const LARGE = 1024 * 1024;
const ROUNDS = 12;
const SCHEMAS = 1000;
const NAMES = ["Free", "Typed", "Ruled"] as const;
type Name = (typeof NAMES)[number];

const HEADERS = { Authorization: "Bearer bench-token", "Content-Type": "application/json" };
await using server = await Remote.start<Written>("written", ["--expose-gc"]);
const port = await server.ask("listen");

await check();
await interleave(NAMES, 1, (name) => measure(name, SIZE, 1500));
const small = await interleave(NAMES, ROUNDS, (name) => measure(name, SIZE, 250));
const large = await interleave(["Free", "Ruled"], 5, (name) => measure(name, LARGE, 400));
const memory = { equal: await perSchema(true), distinct: await perSchema(false) };

const neither = "the same with neither";
report("create", [
  figure({
    what: "CPU per request, schema and rule",
    value: small.ratio(["Ruled", "Free"], "cpu"),
    unit: "ratio",
    rival: neither,
  }),
  figure({
    what: "CPU per request, schema",
    value: small.ratio(["Typed", "Free"], "cpu"),
    unit: "ratio",
    rival: neither,
  }),
  figure({ what: "CPU per request with neither", value: small.of("Free", "cpu"), unit: "µs" }),
  figure({
    what: "CPU per request of 1 MiB, schema and rule",
    value: large.ratio(["Ruled", "Free"], "cpu"),
    unit: "ratio",
    rival: neither,
  }),
  figure({ what: "CPU per request of 1 MiB with neither", value: large.of("Free", "cpu") / 1000, unit: "ms" }),
  figure({ what: `memory per kind, ${SCHEMAS} with one schema`, value: memory.equal / 1024, unit: "KiB" }),
  figure({ what: `memory per kind, ${SCHEMAS} with one each`, value: memory.distinct / 1024, unit: "KiB" }),
]);

function post(kind: string, metadata: object, { bytes, query = "" }: { bytes: number; query?: string }): Buffer {
  const body = JSON.stringify(writtenObject(kind, metadata, bytes));
  return writeRequest(`POST /services/bench/apis/bench.example/v1/${kind.toLowerCase()}s${query}`, body, HEADERS);
}

/** CPU that one create costs the server, µs. Large ones are dry: what they are kept in is not what is measured. */
async function measure(name: Name, bytes: number, milliseconds: number): Promise<{ cpu: number }> {
  const large = bytes === LARGE;
  const request = post(name, { generateName: "w-" }, { bytes, query: large ? "?dryRun=All" : "" });
  const before = await server.ask("cpu");
  const answers = await writeLoad({
    port,
    connections: large ? 2 : 16,
    milliseconds,
    next: (_connection, last) => {
      assert.equal(last?.status ?? 201, 201);
      return request;
    },
  });
  const cpu = ((await server.ask("cpu")) - before) / answers;
  await server.ask("clear");
  return { cpu };
}

/** Bytes that a kind takes which has been written once. */
async function perSchema(equal: boolean): Promise<number> {
  const before = (await server.ask("memory")).held;
  await server.ask("define", { count: SCHEMAS, equal });
  for (let at = 0; at < SCHEMAS; at++) {
    const kind = `${equal ? "Equal" : "Own"}${at}`;
    const object = { ...writtenObject(kind, { name: "w" }, SIZE), apiVersion: "more.example/v1" };
    const path = `/services/bench/apis/more.example/v1/${kind.toLowerCase()}s?dryRun=All`;
    const { status, body } = await fetchOnce(port, writeRequest(`POST ${path}`, JSON.stringify(object), HEADERS));
    assert.equal(status, 201, body.toString());
  }
  return ((await server.ask("memory")).held - before) / SCHEMAS;
}

async function check(): Promise<void> {
  for (const name of NAMES) {
    const { status, body } = await fetchOnce(port, post(name, { generateName: "w-" }, { bytes: SIZE }));
    assert.equal(status, 201, body.toString());
    const object = JSON.parse(body.toString());
    assert.equal(object.spec.max, name === "Free" ? undefined : 1000, "defaults are filled in where there is a schema");
    const sent = JSON.stringify(writtenObject(name, { generateName: "w-" }, SIZE)).length;
    assert.ok(Math.abs(sent - SIZE) < 200, `the object has ${sent} bytes`);
  }
  const bad = JSON.stringify(writtenObject("Ruled", { name: "w" }, SIZE)).replace(
    '"replicas":3',
    '"replicas":3,"max":2',
  );
  const refused = await fetchOnce(
    port,
    writeRequest("POST /services/bench/apis/bench.example/v1/ruleds", bad, HEADERS),
  );
  assert.equal(refused.status, 422, "the rule is not run");
  await server.ask("clear");
}
