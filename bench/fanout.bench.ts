// 5,000 watchers of one resource, plain and TLS, against a bare server that writes the same bytes to held responses
import { Authority, SERVER_AUTH } from "../test/_support/certificates.ts";
import { FanOutSide, type Trust } from "./_harness/fan-out-side.ts";
import { Remote } from "./_harness/remote.ts";
import { type Figure, figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { Fanout } from "./_servers/fanout.ts";
import type { Held } from "./_servers/held.ts";
import type { Watchers } from "./_servers/watchers.ts";

const WATCHERS = 5000;
const ROUNDS = 3;
const TEN_A_SECOND = { period: 100, changes: 10 };
const SATURATED = 600;
const KIB = 1024;
const RIVAL = "node:http, prepared bytes, held responses";

const authority = Authority.root("bench");
const trust = { ca: authority.cert, server: authority.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] }) };
report("fanout", [...(await representations()), ...(await compare("plain")), ...(await compare("TLS", trust))]);

/** How often an event is made into bytes when watchers ask for it in three forms. */
async function representations(): Promise<Figure[]> {
  await using server = await Remote.start<Fanout>("fanout", ["--expose-gc"]);
  await using watchers = await Remote.start<Watchers>("watchers");
  const kinds = ["Table", "PartialObjectMetadata"].map((as) => `application/json;as=${as};g=meta.k8s.io;v=v1`);
  const accept = ["application/json", ...kinds];
  const side = await FanOutSide.open({ server, watchers, count: 300, accept });
  await side.steady({ period: 5, changes: 20 });
  const { rendered, delivered } = await server.ask("stats");
  return [
    figure({
      what: "serialisations per event and representation",
      value: rendered / (side.published * accept.length),
      unit: "count",
      exactly: 1,
    }),
    figure({ what: "deliveries of those", value: delivered, unit: "count" }),
  ];
}

async function compare(kind: string, trust?: Trust): Promise<Figure[]> {
  await using fanout = await Remote.start<Fanout>("fanout", ["--expose-gc"]);
  await using held = await Remote.start<Held>("held", ["--expose-gc"]);
  await using ourWatchers = await Remote.start<Watchers>("watchers");
  await using bareWatchers = await Remote.start<Watchers>("watchers");
  const ours = await FanOutSide.open({ server: fanout, watchers: ourWatchers, count: WATCHERS, trust });
  const bare = await FanOutSide.open({ server: held, watchers: bareWatchers, count: WATCHERS, trust });
  const sides = { ours, bare };
  for (const side of [ours, bare]) await side.check();
  const steady = await interleave(["ours", "bare"], ROUNDS, (name) => sides[name].steady(TEN_A_SECOND));
  const saturated = await interleave(["ours", "bare"], ROUNDS, (name) => sides[name].saturate(SATURATED));
  const { rendered, sources, opened } = await fanout.ask("stats");
  const figures = [
    {
      what: `serialisations per event, ${WATCHERS} watchers`,
      value: rendered / ours.published,
      unit: "count",
      exactly: 1,
    },
    { what: "source watches", value: Math.max(sources, opened), unit: "count", exactly: 1 },
    {
      what: "p99 delivery, 10 changes a second",
      value: steady.ratio(["ours", "bare"], "p99"),
      unit: "ratio",
      rival: RIVAL,
      atMost: 1.5,
    },
    { what: "p99 delivery, 10 changes a second", value: steady.of("ours", "p99"), unit: "ms" },
    {
      what: "CPU per delivery, 10 changes a second",
      value: steady.ratio(["ours", "bare"], "cpu"),
      unit: "ratio",
      rival: RIVAL,
    },
    { what: "CPU per delivery, 10 changes a second", value: steady.of("ours", "cpu"), unit: "µs" },
    {
      what: "deliveries per second, saturated",
      value: saturated.ratio(["ours", "bare"], "rate"),
      unit: "ratio",
      rival: RIVAL,
      atLeast: 0.7,
    },
    { what: "deliveries per second, saturated", value: saturated.of("ours", "rate"), unit: "1/s" },
    {
      what: "memory per idle watcher, more than a held response",
      value: (ours.heldEach - bare.heldEach) / KIB,
      unit: "KiB",
      rival: RIVAL,
      atMost: 8,
    },
    {
      what: "RSS per idle watcher, more than a held response",
      value: (ours.rssEach - bare.rssEach) / KIB,
      unit: "KiB",
      rival: RIVAL,
    },
    { what: "RSS per idle watcher", value: ours.rssEach / KIB, unit: "KiB" },
  ];
  return figures.map((measured) => figure({ ...measured, what: `${kind}: ${measured.what}` }));
}
