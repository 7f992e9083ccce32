// 5,000 watchers of a resource that another server has: one watch there, against a bare server that writes the same bytes
import { FanOutSide } from "./_harness/fan-out-side.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Fanout } from "./_servers/fanout.ts";
import type { ForwardedTicks } from "./_servers/forwarded-ticks.ts";
import type { Held } from "./_servers/held.ts";
import type { Watchers } from "./_servers/watchers.ts";

const WATCHERS = 5000;
const ROUNDS = process.argv.includes("--short") ? 1 : 3;
const TEN_A_SECOND = { period: 100, changes: 10 };
const KIB = 1024;
const RIVAL = "node:http, prepared bytes, held responses";

await using upstream = await Remote.start<Fanout>("fanout", ["--expose-gc"]);
await using between = await Remote.start<ForwardedTicks>("forwarded-ticks", ["--expose-gc"]);
await using held = await Remote.start<Held>("held", ["--expose-gc"]);
await using ourWatchers = await Remote.start<Watchers>("watchers");
await using bareWatchers = await Remote.start<Watchers>("watchers");

const behind = await upstream.ask("listen", undefined);
/** What publishes is the upstream; what is listened to and measured is the server in between. */
const server = {
  listen: () => between.ask("forward", behind),
  cpu: () => between.ask("cpu"),
  memory: () => between.ask("memory"),
  publishOne: () => upstream.ask("publishOne"),
  publishEvery: (plan: Parameters<Held["publishEvery"]>[0]) => upstream.ask("publishEvery", plan),
};
const sides = {
  ours: await FanOutSide.open({
    server: { ask: (name: keyof typeof server, argument: never) => server[name](argument) } as never,
    watchers: ourWatchers,
    count: WATCHERS,
  }),
  bare: await FanOutSide.open({ server: held, watchers: bareWatchers, count: WATCHERS }),
};
for (const side of Object.values(sides)) await side.check();
const names = ["ours", "bare"] as const;
const steady = await interleave(names, ROUNDS, (name) => sides[name].steady(TEN_A_SECOND));
const { rendered } = await between.ask("stats");
const { longRunning: watches } = await upstream.ask("stats");

report("forward-fanout", [
  figure({ what: `watches at the upstream, ${WATCHERS} watchers`, value: watches, unit: "count", exactly: 1 }),
  figure({ what: "serialisations per event", value: rendered / sides.ours.published, unit: "count", exactly: 1 }),
  figure({ what: "p99 delivery, 10 changes a second", value: steady.ratio(names, "p99"), unit: "ratio", rival: RIVAL }),
  figure({ what: "p99 delivery, 10 changes a second", value: steady.of("ours", "p99"), unit: "ms" }),
  figure({
    what: "CPU per delivery, 10 changes a second",
    value: steady.ratio(names, "cpu"),
    unit: "ratio",
    rival: RIVAL,
  }),
  figure({
    what: "memory per idle watcher",
    value: (sides.ours.heldEach - sides.bare.heldEach) / KIB,
    unit: "KiB",
    rival: "a bare held response",
    atMost: 8,
  }),
]);
