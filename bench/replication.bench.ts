// lists and events of cached resources through their view, against those of the provider's workspace itself
import assert from "node:assert/strict";
import { FanOutSide, type Publishing } from "./_harness/fan-out-side.ts";
import { Remote } from "./_harness/remote.ts";
import { type List, type Place, Replication } from "./_harness/replication.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Watchers } from "./_servers/watchers.ts";

const short = process.argv.includes("--short");
const COUNT = short ? 500 : 10_000;
const SIZE = 1_600;
const WATCHERS = short ? 40 : 1_000;
const CONSUMERS = short ? 3 : 10;
const [ROUNDS, LISTS] = short ? [2, 2] : [7, 3];
const PLAN = short ? { period: 20, changes: 5 } : { period: 100, changes: 10 };
const KIB = 1024;
const PLACES = ["source", "view", "workspace"] as const;
const SIDES = ["source", "view", "workspace", "many"] as const;

const many = COUNT.toLocaleString("en");
const lists = await (async () => {
  await using replication = await Replication.start({ count: COUNT, bytes: SIZE });
  await replication.addConsumer();
  for (const place of PLACES) check(await replication.read<List>(replication.path(place)));
  await interleave(PLACES, 1, (place) => listed(replication, place));
  const rounds = await interleave(PLACES, ROUNDS, (place) => listed(replication, place));
  return { rounds, watched: await weighed(replication) };
})();

await using stack = new AsyncDisposableStack();
const sides = {
  source: await side("source"),
  view: await side("view"),
  workspace: await side("workspace"),
  many: await side("view", CONSUMERS),
};
await interleave(SIDES, 1, (name) => sides[name].fanOut.steady(PLAN));
const rendered = await Promise.all(SIDES.map((name) => sides[name].replication.rendered()));
const events = await interleave(SIDES, ROUNDS, (name) => sides[name].fanOut.steady(PLAN));
const encodings = await Promise.all(
  SIDES.map(async (name, at) => {
    const { replication, fanOut } = sides[name];
    return ((await replication.rendered()) - (rendered[at] ?? 0)) / (fanOut.published - PLAN.changes);
  }),
);

const rival = "the same in the provider's workspace";
report("replication", [
  figure({
    what: `CPU of a list of ${many} objects of 2 KiB through the view`,
    value: lists.rounds.ratio(["view", "source"], "cpu"),
    unit: "ratio",
    rival,
  }),
  figure({ what: "the same", value: lists.rounds.of("view", "cpu") / 1000, unit: "ms" }),
  figure({
    what: "the same, in a workspace that binds the export",
    value: lists.rounds.ratio(["workspace", "source"], "cpu"),
    unit: "ratio",
    rival,
  }),
  figure({
    what: `time of such a list in a workspace that binds the export`,
    value: lists.rounds.ratio(["workspace", "source"], "ms"),
    unit: "ratio",
    rival,
  }),
  ...(["view", "workspace"] as const).map((name) =>
    figure({
      what: `CPU per delivery of an event, ${WATCHERS.toLocaleString("en")} watchers ${name === "view" ? "of the view" : "in a workspace that binds the export"}`,
      value: events.ratio([name, "source"], "cpu"),
      unit: "ratio",
      rival,
    }),
  ),
  figure({
    what: `the same, the watchers in ${CONSUMERS} workspaces`,
    value: events.ratio(["many", "source"], "cpu"),
    unit: "ratio",
    rival,
  }),
  figure({ what: "p99 delivery, of the view", value: events.ratio(["view", "source"], "p99"), unit: "ratio", rival }),
  ...SIDES.map((name, at) =>
    figure({ what: `serializations per event: ${name}`, value: encodings[at] ?? Number.NaN, unit: "count" }),
  ),
  figure({
    what: "heap and buffers per object, watched in a workspace",
    value: lists.watched.first / COUNT / KIB,
    unit: "KiB",
  }),
  figure({
    what: `the same, in each of ${CONSUMERS - 1} more workspaces`,
    value: lists.watched.more / COUNT / (CONSUMERS - 1) / KIB,
    unit: "KiB",
  }),
]);

/** CPU and time of a list, µs and ms. */
async function listed(replication: Replication, place: Place): Promise<{ cpu: number; ms: number }> {
  const [before, began] = [await replication.server.ask("cpu"), performance.now()];
  for (let n = 0; n < LISTS; n++) await replication.drain(replication.path(place));
  const ms = (performance.now() - began) / LISTS;
  return { cpu: ((await replication.server.ask("cpu")) - before) / LISTS, ms };
}

function check({ kind, items }: List): void {
  assert.deepEqual([kind, items.length], ["WidgetList", COUNT]);
  for (const [at, { metadata }] of items.entries()) assert.equal(metadata.name, `w${String(at).padStart(5, "0")}`);
}

/** Bytes that the server holds more with a watch in one workspace, and with one in each of several more. */
async function weighed(replication: Replication): Promise<{ readonly first: number; readonly more: number }> {
  const held = async (): Promise<number> => (await replication.server.ask("memory")).held;
  const none = await held();
  using _one = await replication.watch(0);
  const one = await held();
  for (let at = 1; at < CONSUMERS; at++) await replication.addConsumer();
  const bound = await held();
  using watches = new DisposableStack();
  for (let at = 1; at < CONSUMERS; at++) watches.use(await replication.watch(at));
  return { first: one - none, more: (await held()) - bound };
}

/** Watchers of a few objects in a server of their own. */
async function side(place: Place, consumers = 1): Promise<{ fanOut: FanOutSide; replication: Replication }> {
  const replication = stack.use(await Replication.start({ count: 10, bytes: SIZE }));
  for (let at = 0; at < consumers; at++) await replication.addConsumer();
  const watchers = stack.use(await Remote.start<Watchers>("watchers"));
  const path: string[] = [];
  for (let at = 0; at < consumers; at++) {
    const objects = replication.path(place, at);
    const { metadata } = await replication.read<List>(`${objects}?limit=1`);
    path.push(`${objects}?watch=true&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=`);
  }
  const server = publishedBy(replication);
  return { replication, fanOut: await FanOutSide.open({ server, watchers, count: WATCHERS, path }) };
}

/** A server of the fan-out whose changes are new objects of the provider. */
function publishedBy(replication: Replication): Remote<Publishing> {
  const { server, port } = replication;
  const commands = {
    listen: () => Promise.resolve(port),
    cpu: () => server.ask("cpu"),
    memory: () => server.ask("memory"),
    publishOne: () => replication.add(),
    publishEvery: (plan: Parameters<Publishing["publishEvery"]>[0]) => replication.addEvery(plan),
  };
  return { ask: (name: keyof typeof commands, argument: never) => commands[name](argument) } as never;
}
