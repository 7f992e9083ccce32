// boot of a workspace server with 100,000 workspaces on disk, against its boot with one
import assert from "node:assert/strict";
import { figure, report } from "./_harness/report.ts";
import { Rounds } from "./_harness/rounds.ts";
import { tempFolder } from "./_harness/temp-folder.ts";
import type { WorkspaceClient } from "./_harness/workspace-client.ts";
import { makeSample, rested, SAMPLE, seed, serveFrom, weigh, workspaceServer } from "./_harness/workspace-store.ts";
import { workspaceName } from "./_servers/workspace-copies.ts";

const MANY = Number(process.env["WORKSPACES"] ?? 100_000);
const [one, many] = [tempFolder(), tempFolder()];
/** It is made when the server has just started. */
const NEW = "w-new-0000000000";
const STARTS = { one: 3, many: 1 } as const;

interface Boot extends Readonly<Record<string, number>> {
  /** s, from the start of the process until the server is ready. */
  readonly ready: number;
  /** µs until then. */
  readonly cpu: number;
  /** s, from then on, until a workspace is Ready that is made at once. */
  readonly made: number;
  /** ms, the longest that a read of a workspace took while the server read all of them. */
  readonly longest: number;
  /** µs until it rests. */
  readonly rest: number;
  /** Bytes, anonymous, then. */
  readonly memory: number;
}

async function boot(dir: string, workspaces: number): Promise<Boot> {
  const began = performance.now();
  await using server = await workspaceServer();
  using client = await serveFrom(server, dir);
  const ready = (performance.now() - began) / 1000;
  const cpu = await server.ask("cpu");
  const name = workspaces > 1 ? workspaceName(workspaces - 2) : SAMPLE;
  await client.check(name);
  const made = await client.makeOne(NEW);
  const longest = await readWhile(client, name, client.count());
  assert.equal(await client.count(), workspaces + 1);
  await client.delete([NEW]);
  await rested(server);
  const rest = await server.ask("cpu");
  assert.deepEqual(await server.ask("errors"), []);
  return { ready, cpu, made, longest, rest, memory: (await weigh(server)).anonymous };
}

/** Reads a workspace all the while. @returns the longest that took, ms */
async function readWhile(client: WorkspaceClient, name: string, over: Promise<unknown>): Promise<number> {
  let isOver = false;
  const ends = over.finally(() => {
    isOver = true;
  });
  let longest = 0;
  while (!isOver) {
    const began = performance.now();
    await client.check(name);
    longest = Math.max(longest, performance.now() - began);
  }
  await ends;
  return longest;
}

await makeSample(one);
await seed(many, await makeSample(many), { first: 0, count: MANY });
const values: Record<keyof typeof STARTS, Boot[]> = { one: [], many: [] };
for (let at = 0; at < STARTS.one; at++) values.one.push(await boot(one, 1));
for (let at = 0; at < STARTS.many; at++) values.many.push(await boot(many, MANY + 1));
// Those with one are there more often: each is held against their median.
const rounds = new Rounds(values);

const all = MANY.toLocaleString("en");
report("start-many", [
  figure({
    what: `boot to ready with ${all} workspaces on disk`,
    value: rounds.of("many", "ready") / rounds.of("one", "ready"),
    unit: "ratio",
    rival: "the same with one",
    atMost: 3,
  }),
  figure({ what: "the same", value: rounds.of("many", "ready"), unit: "s" }),
  figure({ what: "the same with one", value: rounds.of("one", "ready"), unit: "s" }),
  figure({
    what: "CPU of it, per workspace",
    value: (rounds.of("many", "cpu") - rounds.of("one", "cpu")) / MANY,
    unit: "µs",
  }),
  figure({
    what: "until a workspace is Ready that is made at once",
    value: rounds.of("many", "made"),
    unit: "s",
    rival: "the same with one",
  }),
  figure({ what: "the same with one", value: rounds.of("one", "made"), unit: "s" }),
  figure({
    what: "longest read of a workspace while all are read",
    value: rounds.of("many", "longest"),
    unit: "ms",
  }),
  figure({
    what: "CPU until all is looked at, per workspace",
    value: (rounds.of("many", "rest") - rounds.of("one", "rest")) / MANY,
    unit: "µs",
  }),
  figure({ what: "anonymous memory then", value: rounds.of("many", "memory") / 2 ** 20, unit: "MiB" }),
]);
