// 5,000 watchers of a resource that another server has: one watch there, against a bare server that writes the same bytes
import { FanOutSide, type Publishing } from "./_harness/fan-out-side.ts";
import { type Measurable, Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { ExportUpstream } from "./_servers/export-upstream.ts";
import type { Fanout } from "./_servers/fanout.ts";
import type { ForwardedTicks } from "./_servers/forwarded-ticks.ts";
import type { Held } from "./_servers/held.ts";
import type { ThroughExport } from "./_servers/through-export.ts";
import type { Watchers } from "./_servers/watchers.ts";

const WATCHERS = 5000;
const ROUNDS = process.argv.includes("--short") ? 1 : 3;
const TEN_A_SECOND = { period: 100, changes: 10 };
const KIB = 1024;
const RIVAL = "node:http, prepared bytes, held responses";
/** Of all workspaces, through the view of an export. */
const TICKS =
  "/services/apiexport/provider/export-0/clusters/*/apis/bench.example/v1/ticks?watch=true&resourceVersion=";

await using upstream = await Remote.start<Fanout>("fanout", ["--expose-gc"]);
await using between = await Remote.start<ForwardedTicks>("forwarded-ticks", ["--expose-gc"]);
await using exporting = await Remote.start<ExportUpstream>("export-upstream", ["--expose-gc"]);
await using view = await Remote.start<ThroughExport>("through-export", ["--expose-gc"]);
await using held = await Remote.start<Held>("held", ["--expose-gc"]);
await using clients = new AsyncDisposableStack();

const behind = await upstream.ask("listen", undefined);
await exporting.ask("makeExports", 1);
await exporting.ask("bind", { count: 1, among: 1 });
const workspaces = await exporting.ask("listen");

const sides = {
  ours: await side(published(upstream, between, () => between.ask("forward", behind))),
  view: await side(
    published(exporting, view, () => view.ask("listen", workspaces)),
    TICKS,
  ),
  bare: await side(held),
};
for (const each of Object.values(sides)) await each.check();
const names = ["ours", "view", "bare"] as const;
const steady = await interleave(names, ROUNDS, (name) => sides[name].steady(TEN_A_SECOND));
const { rendered } = await between.ask("stats");
const { longRunning: watches } = await upstream.ask("stats");

report("forward-fanout", [
  figure({ what: `watches at the upstream, ${WATCHERS} watchers`, value: watches, unit: "count", exactly: 1 }),
  figure({
    what: "the same, of all workspaces through the view of an export",
    value: await exporting.ask("opened"),
    unit: "count",
    exactly: 1,
  }),
  figure({ what: "serialisations per event", value: rendered / sides.ours.published, unit: "count", exactly: 1 }),
  figure({
    what: "p99 delivery, 10 changes a second",
    value: steady.ratio(["ours", "bare"], "p99"),
    unit: "ratio",
    rival: RIVAL,
  }),
  figure({
    what: "the same, through the view",
    value: steady.ratio(["view", "bare"], "p99"),
    unit: "ratio",
    rival: RIVAL,
  }),
  figure({ what: "p99 delivery, 10 changes a second", value: steady.of("ours", "p99"), unit: "ms" }),
  figure({
    what: "CPU per delivery, 10 changes a second",
    value: steady.ratio(["ours", "bare"], "cpu"),
    unit: "ratio",
    rival: RIVAL,
  }),
  figure({
    what: "the same, through the view",
    value: steady.ratio(["view", "ours"], "cpu"),
    unit: "ratio",
    rival: "without it",
  }),
  ...(["ours", "view"] as const).map((name) =>
    figure({
      what: `memory per idle watcher${name === "view" ? ", through the view" : ""}`,
      value: (sides[name].heldEach - sides.bare.heldEach) / KIB,
      unit: "KiB",
      rival: "a bare held response",
      atMost: 8,
    }),
  ),
]);

/** What publishes is the upstream; what is listened to and measured is the server in between. */
function published(
  source: Remote<Pick<Held, "publishOne" | "publishEvery">>,
  server: Measurable & { ask(command: "memory"): Promise<unknown> },
  listen: () => Promise<number>,
): Remote<Publishing> {
  const asked = {
    listen,
    cpu: () => server.ask("cpu"),
    memory: () => server.ask("memory"),
    publishOne: () => source.ask("publishOne"),
    publishEvery: (plan: Parameters<Held["publishEvery"]>[0]) => source.ask("publishEvery", plan),
  };
  return { ask: (name: keyof typeof asked, argument: never) => asked[name](argument) } as never;
}

async function side(server: Remote<Publishing>, path?: string): Promise<FanOutSide> {
  const watchers = clients.use(await Remote.start<Watchers>("watchers"));
  return FanOutSide.open({ server, watchers, count: WATCHERS, ...(path !== undefined && { path }) });
}
