// GET of a 2 KiB object, against a bare node:http handler and Express 5
import assert from "node:assert/strict";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { median } from "./_harness/statistics.ts";
import type { Bare } from "./_servers/bare.ts";
import type { Express } from "./_servers/express.ts";
import type { Widgets } from "./_servers/widgets.ts";

const SIZE = 2048;
const ROUNDS = 20;
const path = "/services/bench/apis/bench.example/v1/widgets/w00000";
const request = getRequest(path, { Authorization: "Bearer bench-token", Accept: "application/json" });

await using ours = await Remote.start<Widgets>("widgets");
await using bare = await Remote.start<Bare>("bare");
await using express = await Remote.start<Express>("express");

await ours.ask("fill", { count: 100, bytes: SIZE });
const port = { ours: await ours.ask("listen"), bare: await bare.ask("listen"), express: await express.ask("listen") };
const answer = {
  ours: await fetchOnce(port.ours, request),
  bare: await prepareBare(),
  express: await prepareExpress(),
};
await checkAnswers();

const servers = { ours, bare, express };
type Name = keyof typeof servers;
const cpu: Record<Name, number[]> = { ours: [], bare: [], express: [] };
for (const name of names()) await measure(name, 1500);
for (let round = 0; round < ROUNDS; round++) for (const name of names()) cpu[name].push(await measure(name, 250));
const perRound = (rival: Name): number[] => cpu.ours.map((value, round) => value / (cpu[rival][round] ?? Number.NaN));

report("get", [
  figure({
    what: "CPU per request over a bare handler",
    value: median(perRound("bare")),
    unit: "ratio",
    rival: "node:http, same bytes and headers",
    atMost: 2,
  }),
  figure({
    what: "CPU per request over Express",
    value: median(perRound("express")),
    unit: "ratio",
    rival: "Express 5, res.json",
    below: 1,
  }),
  figure({ what: "CPU per request", value: median(cpu.ours), unit: "µs" }),
  figure({ what: "CPU per request, bare handler", value: median(cpu.bare), unit: "µs" }),
  figure({ what: "CPU per request, Express", value: median(cpu.express), unit: "µs" }),
]);

function names(): Name[] {
  return ["ours", "bare", "express"];
}

/** CPU that one request costs the server, µs. */
async function measure(name: Name, milliseconds: number): Promise<number> {
  const server: Measurable = servers[name];
  const before = await server.ask("cpu");
  const { answers } = await load({
    port: port[name],
    request,
    expected: answer[name],
    connections: 16,
    milliseconds,
  });
  return ((await server.ask("cpu")) - before) / answers;
}

/** The bare handler sends what we send: the same bytes under the same headers. */
async function prepareBare(): Promise<Answer> {
  const { headers, body } = await fetchOnce(port.ours, request);
  const own = headers.filter(([name]) => !/^(date|connection|keep-alive)$/i.test(name)); // Node's, in both
  await bare.ask("use", { headers: Object.fromEntries(own), body });
  return fetchOnce(port.bare, request);
}

async function prepareExpress(): Promise<Answer> {
  const { body } = await fetchOnce(port.ours, request);
  await express.ask("use", body.toString());
  return fetchOnce(port.express, request);
}

async function checkAnswers(): Promise<void> {
  const { ours: got } = answer;
  const object = JSON.parse(got.body.toString());
  assert.equal(got.status, 200);
  assert.deepEqual([object.kind, object.metadata.name], ["Widget", "w00000"]);
  assert.ok(Math.abs(got.body.length - SIZE) < 32, `the object has ${got.body.length} bytes`);
  assert.deepEqual(answer.bare.body, got.body);
  assert.deepEqual(answer.bare.headers.map(([name]) => name).sort(), got.headers.map(([name]) => name).sort());
  assert.deepEqual(JSON.parse(answer.express.body.toString()), object);
  const stranger = await fetchOnce(port.ours, getRequest(path));
  assert.equal(stranger.status, 401, "token authentication is on");
}
