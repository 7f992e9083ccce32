// create of a 2 KiB object with a schema and a CEL rule, against the same without; large objects; many schemas; stalls; memory
import assert from "node:assert/strict";
import { fetchOnce } from "./_harness/http.ts";
import { fields, largeBodies } from "./_harness/large-bodies.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { median } from "./_harness/statistics.ts";
import { writeLoad, writeRequest } from "./_harness/writes.ts";
import type { BareWrite } from "./_servers/bare-write.ts";
import type { Written } from "./_servers/written.ts";
import { writtenObject } from "./_servers/written-kinds.ts";

const SIZE = 2048;
const LARGE = 1024 * 1024;
const ROUNDS = 12;
const SCHEMAS = 1000;
const OBJECTS = 30_000;
const KINDS = ["Free", "Typed", "Ruled"] as const;
const NAMES = ["bare", ...KINDS] as const;
type Name = (typeof NAMES)[number];

const HEADERS = { Authorization: "Bearer bench-token", "Content-Type": "application/json" };
await using server = await Remote.start<Written>("written", ["--expose-gc"]);
const port = await server.ask("listen");
await using bare = await Remote.start<BareWrite>("bare-write");
const barePort = await bare.ask("listen");

await check();
await interleave(NAMES, 1, (name) => measure(name, SIZE, 1500));
const small = await interleave(NAMES, ROUNDS, (name) => measure(name, SIZE, 250));
const large = await interleave(["bare", "Free", "Ruled"], 5, (name) => measure(name, LARGE, 400));
const stalls = { body: await ofBodies(), fields: await ofFields() };
const memory = { object: await perObject(), equal: await perSchema(true), distinct: await perSchema(false) };

const PARSING = "bare `node:http`, parses and stringifies the same";
const neither = "the same with neither";
report("create", [
  figure({
    what: "CPU per request with neither",
    value: small.ratio(["Free", "bare"], "cpu"),
    unit: "ratio",
    rival: PARSING,
    atMost: 4,
  }),
  figure({
    what: "CPU per request, schema and rule",
    value: small.ratio(["Ruled", "Free"], "cpu"),
    unit: "ratio",
    rival: neither,
    atMost: 2,
  }),
  figure({
    what: "CPU per request, schema",
    value: small.ratio(["Typed", "Free"], "cpu"),
    unit: "ratio",
    rival: neither,
  }),
  figure({ what: "CPU per request with neither", value: small.of("Free", "cpu"), unit: "µs" }),
  figure({
    what: "CPU per request of 1 MiB with neither",
    value: large.ratio(["Free", "bare"], "cpu"),
    unit: "ratio",
    rival: PARSING,
    atMost: 2,
  }),
  figure({
    what: "CPU per request of 1 MiB, schema and rule",
    value: large.ratio(["Ruled", "Free"], "cpu"),
    unit: "ratio",
    rival: neither,
    atMost: 2.5,
  }),
  figure({ what: "CPU per request of 1 MiB with neither", value: large.of("Free", "cpu") / 1000, unit: "ms" }),
  figure({
    what: `longest stall, bodies of 3 MiB: ${stalls.body.what}`,
    value: stalls.body.ms,
    unit: "ms",
    atMost: 150,
  }),
  figure({
    what: `longest stall, 7,400 fields: ${stalls.fields.what}`,
    value: stalls.fields.ms,
    unit: "ms",
    atMost: 50,
  }),
  figure({
    what: `memory per object beyond its bytes, ${OBJECTS} of 2 KiB, most replaced`,
    value: memory.object,
    unit: "bytes",
    atMost: 1200,
  }),
  figure({ what: `memory per kind, ${SCHEMAS} with one schema`, value: memory.equal / 1024, unit: "KiB" }),
  figure({ what: `memory per kind, ${SCHEMAS} with one each`, value: memory.distinct / 1024, unit: "KiB" }),
]);

function post(kind: string, metadata: object, { bytes, query = "" }: { bytes: number; query?: string }): Buffer {
  return postOf(kind, JSON.stringify(writtenObject(kind, metadata, bytes)), query);
}

function postOf(kind: string, body: string, query: string): Buffer {
  return writeRequest(`POST /services/bench/apis/bench.example/v1/${kind.toLowerCase()}s${query}`, body, HEADERS);
}

/** CPU that one create costs the server, µs. Large ones are dry: what they are kept in is not what is measured. */
async function measure(name: Name, bytes: number, milliseconds: number): Promise<{ cpu: number }> {
  const large = bytes === LARGE;
  const kind = name === "bare" ? "Free" : name;
  const request = post(kind, { generateName: "w-" }, { bytes, query: large ? "?dryRun=All" : "" });
  const asked: Measurable = name === "bare" ? bare : server;
  const before = await asked.ask("cpu");
  const answers = await writeLoad({
    port: name === "bare" ? barePort : port,
    connections: large ? 2 : 16,
    milliseconds,
    next: (_connection, last) => {
      assert.equal(last?.status ?? 201, 201);
      return request;
    },
  });
  const cpu = ((await asked.ask("cpu")) - before) / answers;
  await server.ask("clear");
  return { cpu };
}

interface Stall {
  readonly what: string;
  readonly ms: number;
}

/** How long nothing else is done for a request, of a few alike the median. */
async function stallOf(what: string, request: Buffer): Promise<Stall> {
  const found: number[] = [];
  for (let round = 0; round < 3; round++) {
    await server.ask("watchStalls");
    const { status, body } = await fetchOnce(port, request);
    found.push(await server.ask("longestStall"));
    assert.ok(status === 200 || status === 201, `${what}: ${body.toString().slice(0, 500)}`);
  }
  return { what, ms: median(found) };
}

function longest(stalls: readonly Stall[]): Stall {
  return stalls.reduce((most, stall) => (stall.ms > most.ms ? stall : most));
}

async function ofBodies(): Promise<Stall> {
  const stalls: Stall[] = [];
  for (const { what, kind, body } of largeBodies) stalls.push(await stallOf(what, postOf(kind, body, "?dryRun=All")));
  return longest(stalls);
}

/** Of an object with nearly as many fields as are tracked for their owners. */
async function ofFields(): Promise<Stall> {
  const body = (first: number): string =>
    JSON.stringify({ ...writtenObject("Free", { name: "w" }, 0), spec: fields(7400, first) });
  const patch = (type: string, manager: string, first: number): Buffer => {
    const query = `?dryRun=All&fieldManager=${manager}${type === "apply-patch+yaml" ? "&force=true" : ""}`;
    const headers = { ...HEADERS, "Content-Type": `application/${type}` };
    return writeRequest(`PATCH /services/bench/apis/bench.example/v1/frees/w${query}`, body(first), headers);
  };
  assert.equal((await fetchOnce(port, postOf("Free", body(0), "?fieldManager=first"))).status, 201);
  const stalls = [
    await stallOf("create", postOf("Free", body(0).replace('"w"', '"v"'), "?dryRun=All")),
    await stallOf("merge patch", patch("merge-patch+json", "first", 1)),
    await stallOf("apply of the same", patch("apply-patch+yaml", "second", 0)),
    await stallOf("apply, forced", patch("apply-patch+yaml", "second", 1)),
  ];
  await server.ask("clear");
  return longest(stalls);
}

/** Bytes that an object takes besides those that it is written as. Behind a history of four thousand changes. */
async function perObject(): Promise<number> {
  const before = (await server.ask("memory")).held;
  await server.ask("fill", { count: OBJECTS, bytes: SIZE, again: false });
  const bytes = await server.ask("fill", { count: OBJECTS, bytes: SIZE, again: true });
  const { held } = await server.ask("memory");
  await server.ask("clear");
  return (held - before - bytes) / OBJECTS;
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
  for (const name of KINDS) {
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
