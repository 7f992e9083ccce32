// GETs of 2 KiB in a workspace through `front-proxy --workers=2`, over TLS, against one process of the same command
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { cpuOf, type FrontCommand, memoryOf, startFront } from "./_harness/front-command.ts";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { tempFolder } from "./_harness/temp-folder.ts";
import type { Shard } from "./_servers/shard.ts";

const short = process.argv.includes("--short");
const ROUNDS = short ? 4 : 12;
const WARM = short ? 500 : 10_000;
/** Long enough that new connections count for little, ms. */
const WINDOW = short ? 300 : 1000;
const CONNECTIONS = 16;
const names = ["two", "one"] as const;
type Name = (typeof names)[number];
const rival = "one process";

const subject = { name: "bench", groups: [] };
const now = new Date();
const authority = await issueCertificate({ subject, purpose: { kind: "authority" }, now });
const purpose = { kind: "server", hosts: [], addresses: ["127.0.0.1"] } as const;
const serving = await issueCertificate({ subject, purpose, now }, authority);
const tls = { ca: authority.cert };
const folder = tempFolder();

await using shard = await Remote.start<Shard>("shard");
const { port: behind, path } = await shard.ask("listen", 2048);
const request = getRequest(`/clusters/root:a${path}`, {
  Authorization: "Bearer bench-token",
  Accept: "application/json",
});
await using two = await started("two", 2);
await using one = await started("one", 1);
const fronts: Readonly<Record<Name, FrontCommand>> = { two, one };
const answers: Readonly<Record<Name, Answer>> = { two: await answerOf(two), one: await answerOf(one) };

// First one worker alone, so that it is as busy, and its code as warm, as that of the one process; then both together.
await interleave(names, 1, (name) => measure(name, WARM, 1));
const alone = await interleave(names, ROUNDS, (name) => measure(name, WINDOW, 1));
await interleave(names, 1, (name) => measure(name, WARM));
const together = await interleave(names, ROUNDS, (name) => measure(name, WINDOW));
const [primary = Number.NaN, ...workers] = two.pids.map(memoryOf);

report("front-workers", [
  figure({
    ...{ what: "requests per second if each worker had a core, by the CPU of a busy worker" },
    ...{ value: 2 / alone.ratio(names, "busiest"), unit: "ratio", rival, atLeast: 1.6 },
  }),
  figure({
    ...{ what: "CPU of a busy worker per request", value: alone.ratio(names, "busiest"), unit: "ratio" },
    ...{ rival, atMost: 1.15 },
  }),
  ...names.map((name) => figure({ what: `the same, ${name}`, value: alone.of(name, "busiest"), unit: "µs" })),
  figure({ what: "CPU of the primary process per connection", value: alone.of("two", "primary"), unit: "µs" }),
  figure({
    ...{ what: "requests per second, load and shard on the same cores", value: together.ratio(names, "rate") },
    ...{ unit: "ratio", rival },
  }),
  figure({
    ...{ what: "share of requests of the busier worker", value: together.of("two", "share"), unit: "ratio" },
    ...{ atMost: 0.6 },
  }),
  figure({ what: "memory of one process", value: memoryOf(one.pids[0] ?? 0), unit: "MiB" }),
  figure({ what: "memory of the primary process", value: primary, unit: "MiB" }),
  figure({ what: "memory of a worker", value: Math.max(...workers), unit: "MiB" }),
]);

function started(name: Name, count: number): Promise<FrontCommand> {
  const own = join(folder, name);
  mkdirSync(own);
  return startFront({ folder: own, shard: behind, workers: count, serving });
}

async function answerOf({ port }: FrontCommand): Promise<Answer> {
  const answer = await fetchOnce(port, request, tls);
  assert.equal(answer.status, 200, String(answer.body));
  return answer;
}

/** CPU, µs: for each answer that of the busiest process, and for each connection that of the primary one. @param idle unused connections before each */
async function measure(name: Name, milliseconds: number, idle = 0) {
  const { port, pids } = fronts[name];
  const before = pids.map(cpuOf);
  const terms = { port, request, tls, expected: answers[name], connections: CONNECTIONS, idle };
  const { answers: count, seconds } = await load({ ...terms, milliseconds });
  const used = pids.map((pid, at) => (cpuOf(pid) - (before[at] ?? 0)) / count);
  const busiest = Math.max(...used);
  const [first = Number.NaN, ...others] = used;
  return {
    busiest,
    primary: (first * count) / (CONNECTIONS * (1 + idle)),
    share: busiest / others.reduce((sum, each) => sum + each, 0),
    rate: count / seconds,
  };
}
