// One user at ten times the capacity, and what it costs another, with the fairness stage and without
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { fetchOnce, getRequest } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { type Figure, figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { SLOW } from "./_harness/slow.ts";
import type { Shared } from "./_servers/shared.ts";
import type { Asked, User } from "./_servers/user.ts";

const ROUNDS = 3;
const ALONE = "without the flood";
const NAMES = ["fair", "open"] as const;
type Name = (typeof NAMES)[number];
const BASE = "/services/bench/apis/bench.example/v1";
const as = (token: string, path: string): Buffer => getRequest(`${BASE}${path}`, { Authorization: `Bearer ${token}` });

const LIST = "/widgets?labelSelector=nobody%3Dhas-it";
const GET = "/widgets/w00000";
const REMOTE = "/remotes/any";

const greedy = await Remote.start<User>("user");
const modest = await Remote.start<User>("user");
const fair = await Remote.start<Shared>("shared");
const open = await Remote.start<Shared>("shared");
const port = { fair: await fair.ask("listen", { fair: true }), open: await open.ask("listen", { fair: false }) };
for (const name of NAMES) {
  assert.equal((await fetchOnce(port[name], as("modest", GET))).status, 200);
  assert.equal(JSON.parse((await fetchOnce(port[name], as("greedy", LIST))).body.toString()).items.length, 0);
}

const lists = await capacity(LIST);
report("fairness", [
  ...(await compare("lists that cost CPU", { flood: LIST, wanted: GET, rate: 10 * lists, connections: 1000 })),
  ...(await compare("a storage that takes 50 ms", {
    flood: REMOTE,
    wanted: REMOTE,
    rate: (10 * SLOW.slots * 1000) / SLOW.takes,
    connections: 10 * SLOW.slots,
  })),
]);
for (const remote of [greedy, modest, fair, open]) await remote[Symbol.asyncDispose]();

interface Case {
  readonly flood: string;
  readonly wanted: string;
  readonly rate: number;
  readonly connections: number;
}

async function compare(what: string, load: Case): Promise<Figure[]> {
  const rounds = await interleave(NAMES, ROUNDS, (name) => measure(name, load));
  const p99 = rounds.of("fair", "flooded");
  return [
    {
      what: "p99 of the other user, part of 3 times or 20 ms",
      value: rounds.of("fair", "allowed"),
      unit: "ratio",
      rival: ALONE,
      atMost: 1,
    },
    { what: "p99 of the other user", value: p99, unit: "ms", rival: ALONE },
    { what: "p99 of the other user", value: rounds.of("fair", "times"), unit: "ratio", rival: ALONE },
    {
      what: "p99 of the other user, no stage",
      value: rounds.of("open", "flooded"),
      unit: "ms",
      rival: ALONE,
    },
    {
      what: "p99 of the other user, no stage",
      value: rounds.of("open", "times"),
      unit: "ratio",
      rival: ALONE,
    },
    { what: "of the flood, served", value: rounds.of("fair", "served"), unit: "1/s" },
    { what: "of the flood, refused", value: rounds.of("fair", "refused"), unit: "1/s" },
    { what: "of the flood, served, no stage", value: rounds.of("open", "served"), unit: "1/s" },
  ].map((one) => figure({ ...one, what: `${what}: ${one.what}` }));
}

/** p99 of a user that asks 200 times a second, alone and beside one that asks for ten times what the server can do, ms. */
async function measure(name: Name, { flood, wanted, rate, connections }: Case) {
  await modest.ask("open", { port: port[name], connections: 200 });
  await greedy.ask("open", { port: port[name], connections });
  const quiet = await asks(wanted);
  await greedy.ask("begin", { request: as("greedy", flood), perSecond: rate });
  await setTimeout(300);
  const flooded = await asks(wanted);
  const { codes, seconds } = await greedy.ask("end");
  await greedy.ask("open", { port: port[name], connections: 0 });
  // What still waits there is nobody's any more.
  await setTimeout(name === "open" ? 1000 : 300);
  // Without the stage perhaps nothing at all has come.
  if (name === "fair") assert.deepEqual(Object.keys(flooded.codes), ["200"], "the modest user is always served");
  return {
    quiet: quiet.p99,
    flooded: flooded.p99,
    times: flooded.p99 / quiet.p99,
    allowed: flooded.p99 / Math.max(3 * quiet.p99, 20),
    served: (codes["200"] ?? 0) / seconds,
    refused: (codes["429"] ?? 0) / seconds,
  };
}

async function asks(path: string): Promise<Asked> {
  await modest.ask("begin", { request: as("modest", path), perSecond: 200 });
  await setTimeout(1500);
  return modest.ask("end");
}

/** How often a second the server can answer, asked one after the other by a few connections. */
async function capacity(path: string): Promise<number> {
  await greedy.ask("open", { port: port.open, connections: 8 });
  await greedy.ask("begin", { request: as("greedy", path), perSecond: 100_000 });
  await setTimeout(1000);
  const { codes, seconds } = await greedy.ask("end");
  return (codes["200"] ?? 0) / seconds;
}
