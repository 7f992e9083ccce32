// workspaces: creations to Ready and deletions among 10,000 of them, against creates of a ConfigMap; memory of an empty workspace
import assert from "node:assert/strict";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import { tempFolder } from "./_harness/temp-folder.ts";
import { forgotten, makeSample, seed, serveFrom, settled, weigh, workspaceServer } from "./_harness/workspace-store.ts";
import { workspaceName } from "./_servers/workspace-copies.ts";

const short = process.argv.includes("--short");
const SEEDED = short ? 500 : 10_000;
const [ROUNDS, MADE, DELETED] = short ? [2, 20, 40] : [4, 100, 400];
/** So many ConfigMaps take about as long as a workspace. */
const MAPS_EACH = 10;
const dir = tempFolder();
const mib = 2 ** 20;

const sample = await makeSample(dir);
const empty = await (async () => {
  await using server = await workspaceServer();
  using _client = await serveFrom(server, dir);
  await settled(server);
  return { keys: await server.ask("keys"), ...(await weigh(server)) };
})();
const objects = await seed(dir, sample, { first: 0, count: SEEDED });

await using server = await workspaceServer();
using client = await serveFrom(server, dir);
assert.equal(await client.count(), SEEDED + 1);
await client.check(workspaceName(SEEDED - 1));
await settled(server);
const full = await weigh(server);

let names = 0;
const named = (count: number): string[] => Array.from({ length: count }, () => `n${names++}`);

/** CPU and writes of the server and time, each of one. */
async function measured(
  count: number,
  work: () => Promise<unknown>,
): Promise<{ cpu: number; seconds: number; writes: number }> {
  const [cpu, head, began] = [await server.ask("cpu"), await server.ask("head"), performance.now()];
  await work();
  const seconds = (performance.now() - began) / 1000 / count;
  return {
    seconds,
    cpu: ((await server.ask("cpu")) - cpu) / count,
    writes: ((await server.ask("head")) - head) / count,
  };
}

const rounds = await interleave(["workspace", "map"], ROUNDS, async (which) => {
  const some = named(which === "map" ? MADE * MAPS_EACH : MADE);
  return measured(some.length, () => (which === "map" ? client.makeConfigMaps(some) : client.make(some)));
});
await client.check("n0");
const copies = Array.from({ length: DELETED }, (_, at) => workspaceName(at));
const deleted = await measured(DELETED, () => client.delete(copies));
assert.equal(await client.count(), SEEDED + 1 - DELETED + ROUNDS * MADE);
assert.deepEqual(await server.ask("errors"), []);
assert.ok((await server.ask("keepOnly", empty.keys)) > (SEEDED - DELETED) * objects);
await settled(server);
const leftAtOnce = await weigh(server);
await forgotten(server);
const left = await weigh(server);

const many = SEEDED.toLocaleString("en");
report("workspaces", [
  figure({
    what: `CPU per workspace until it is Ready, ${many} there`,
    value: rounds.ratio(["workspace", "map"], "cpu"),
    unit: "ratio",
    rival: "create of a ConfigMap",
    atMost: 8,
  }),
  figure({ what: "the same", value: rounds.of("workspace", "cpu") / 1000, unit: "ms" }),
  figure({ what: "the same, writes to the store", value: Math.round(rounds.of("workspace", "writes")), unit: "count" }),
  figure({
    what: "the same, 16 clients",
    value: 1 / rounds.of("workspace", "seconds"),
    unit: "1/s",
    rival: "kcp: 2 to 8",
  }),
  figure({ what: "CPU per workspace that is deleted", value: deleted.cpu / 1000, unit: "ms" }),
  figure({ what: "the same, 16 clients, until it is gone", value: 1 / deleted.seconds, unit: "1/s", rival: "kcp: 3" }),
  figure({ what: "objects of an empty workspace", value: objects, unit: "count" }),
  figure({
    what: "anonymous memory per empty workspace",
    value: (full.anonymous - empty.anonymous) / SEEDED / 1024,
    unit: "KiB",
    rival: "kcp: 7,600",
    atMost: 20,
  }),
  figure({ what: "the same, heap and buffers", value: (full.held - empty.held) / SEEDED / 1024, unit: "KiB" }),
  figure({ what: `anonymous memory with ${many} workspaces`, value: full.anonymous / mib, unit: "MiB", below: 400 }),
  figure({ what: "the same, all that is resident", value: full.rss / mib, unit: "MiB" }),
  figure({
    what: "heap and buffers two minutes after they are gone",
    value: left.held / empty.held,
    unit: "ratio",
    rival: "before they came",
    atMost: 1.1,
  }),
  figure({ what: "the same at once", value: leftAtOnce.held / empty.held, unit: "ratio", rival: "before they came" }),
  figure({ what: "anonymous memory then", value: left.anonymous / mib, unit: "MiB" }),
  figure({ what: "the same with one", value: empty.anonymous / mib, unit: "MiB" }),
]);
