// GET of a 2 KiB object at two processes against one; and of a view that the other one answers for, over TLS
import assert from "node:assert/strict";
import { Minter } from "@virtual-workspaces/framework/storage";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Peer } from "./_servers/peer.ts";

const ROUNDS = 10;
const WARM = 3000;
const request = getRequest("/services/bench/apis/bench.example/v1/widgets/w00000", {
  Authorization: "Bearer bench-token",
  Accept: "application/json",
});

const subject = { name: "peer", groups: [] };
const now = new Date();
const authority = await issueCertificate({ subject, purpose: { kind: "authority" }, now });
const server = { kind: "server", hosts: [], addresses: ["127.0.0.1"] } as const;
const trust = {
  ca: authority.cert,
  server: await issueCertificate({ subject, purpose: server, now }, authority),
  client: await issueCertificate({ subject, purpose: { kind: "client" }, now }, authority),
};
const tls = { ca: trust.ca };

await using one = await Remote.start<Peer>("peer");
await using other = await Remote.start<Peer>("peer");
const remotes = [one, other];
const places = [
  await one.ask("listen", { ...trust, bytes: 2048 }),
  await other.ask("listen", { ...trust, bytes: 2048 }),
];
type Expected = readonly { readonly port: number; readonly answer: Answer }[];

/** What each of some answers. */
async function answered(at: readonly number[]): Promise<Expected> {
  const ports = at.map((place) => places[place]?.port ?? 0);
  return Promise.all(ports.map(async (port) => ({ port, answer: await fetchOnce(port, request, tls) })));
}

const alone = await answered([0, 1]);
for (const { answer } of alone) assert.equal(answer.status, 200);
const names = ["two", "one"] as const;
const both = (name: "two" | "one"): Expected => (name === "two" ? alone : alone.slice(0, 1));
await interleave(names, 1, (name) => measure(both(name), WARM));
const apart = await interleave(names, ROUNDS, (name) => measure(both(name), 500));

for (const remote of remotes) await remote.ask("meet", places);
const together = await answered([0, 1]);
const versions = together.map(({ answer }) => JSON.parse(answer.body.toString()).metadata.resourceVersion as string);
assert.equal(versions[0], versions[1], "two processes show two versions");
const home = places.findIndex(({ minter }) => minter === Minter.of(versions[0] ?? ""));
assert.notEqual(home, -1);
const ways = { passed: together.filter((_, at) => at !== home), direct: together.filter((_, at) => at === home) };
await interleave(["passed", "direct"], 1, (way) => measure(ways[way], WARM));
const reads = await interleave(["passed", "direct"], ROUNDS, (way) => measure(ways[way], 500));

report("workers", [
  figure({
    ...{ what: "answers per second, two processes", value: apart.ratio(names, "rate"), unit: "ratio" },
    ...{ rival: "one process, the load beside it", atLeast: 1.15 },
  }),
  figure({
    ...{ what: "CPU of both processes per read that is passed on", value: reads.ratio(["passed", "direct"], "cpu") },
    ...{ unit: "ratio", rival: "the same read where it is answered", atMost: 6 },
  }),
  figure({ what: "CPU of both per read that is passed on", value: reads.of("passed", "cpu"), unit: "µs" }),
  figure({ what: "CPU per read where it is answered", value: reads.of("direct", "cpu"), unit: "µs" }),
]);

/** Asks some at the same time. CPU is that of both processes for each answer, µs. */
async function measure(at: Expected, milliseconds: number): Promise<{ cpu: number; rate: number }> {
  const cpu = async (): Promise<number> => (await one.ask("cpu")) + (await other.ask("cpu"));
  const before = await cpu();
  const loads = at.map(({ port, answer: expected }) =>
    load({ port, request, tls, expected, connections: 16 / at.length, milliseconds }),
  );
  const results = await Promise.all(loads);
  const answers = results.reduce((sum, result) => sum + result.answers, 0);
  return {
    cpu: ((await cpu()) - before) / answers,
    rate: answers / Math.max(...results.map(({ seconds }) => seconds)),
  };
}
