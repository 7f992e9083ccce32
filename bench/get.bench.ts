// GET of a 2 KiB object, against a bare node:http handler and Express 5
import assert from "node:assert/strict";
import { fetchOnce, getRequest, load } from "./_harness/http.ts";
import { mimic } from "./_harness/mimic.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Bare } from "./_servers/bare.ts";
import type { Express } from "./_servers/express.ts";
import type { Widgets } from "./_servers/widgets.ts";

const SIZE = 2048;
const ROUNDS = 20;
const NAMES = ["ours", "bare", "express"] as const;
type Name = (typeof NAMES)[number];

const path = "/services/bench/apis/bench.example/v1/widgets/w00000";
const request = getRequest(path, { Authorization: "Bearer bench-token", Accept: "application/json" });

await using ours = await Remote.start<Widgets>("widgets");
await using bare = await Remote.start<Bare>("bare");
await using express = await Remote.start<Express>("express");

await ours.ask("fill", { count: 100, bytes: SIZE });
const port = { ours: await ours.ask("listen"), bare: await bare.ask("listen"), express: await express.ask("listen") };
const answer = await checkedAnswers();
const servers: Readonly<Record<Name, Measurable>> = { ours, bare, express };

await interleave(NAMES, 1, (name) => measure(name, 1500));
const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, 250));

const same = "node:http, same bytes and headers";
const resJson = "Express 5, res.json";
report("get", [
  figure({
    what: "CPU per request",
    value: rounds.ratio(["ours", "bare"], "cpu"),
    unit: "ratio",
    rival: same,
    atMost: 2,
  }),
  figure({
    what: "CPU per request",
    value: rounds.ratio(["ours", "express"], "cpu"),
    unit: "ratio",
    rival: resJson,
    below: 1,
  }),
  figure({ what: "CPU per request", value: rounds.of("ours", "cpu"), unit: "µs" }),
  figure({ what: "CPU per request of the bare handler", value: rounds.of("bare", "cpu"), unit: "µs" }),
  figure({ what: "CPU per request of Express", value: rounds.of("express", "cpu"), unit: "µs" }),
]);

/** CPU that one request costs the server, µs. */
async function measure(name: Name, milliseconds: number): Promise<{ cpu: number }> {
  const before = await servers[name].ask("cpu");
  const { answers } = await load({
    port: port[name],
    request,
    expected: answer[name],
    connections: 16,
    milliseconds,
  });
  return { cpu: ((await servers[name].ask("cpu")) - before) / answers };
}

async function checkedAnswers() {
  const original = await fetchOnce(port.ours, request);
  const object = JSON.parse(original.body.toString());
  assert.equal(original.status, 200);
  assert.deepEqual([object.kind, object.metadata.name], ["Widget", "w00000"]);
  assert.ok(Math.abs(original.body.length - SIZE) < 32, `the object has ${original.body.length} bytes`);
  const stranger = await fetchOnce(port.ours, getRequest(path));
  assert.equal(stranger.status, 401, "token authentication is off");
  await express.ask("use", original.body.toString());
  const json = await fetchOnce(port.express, request);
  assert.deepEqual(JSON.parse(json.body.toString()), object);
  return { ours: original, bare: await mimic(bare, original, { port: port.bare, request }), express: json };
}
