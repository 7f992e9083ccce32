import { type Figure, figure } from "./report.ts";
import { WRITERS } from "./store-creates.ts";
import type { Outcome } from "./store-rivalry.ts";

const MIB = 2 ** 20;
const SIDES = ["ours", "bare"] as const;

/** What a contest came to, in words. */
export function storeFigures(
  { creates, get, list, replay, replayMemory }: Outcome,
  {
    events,
    engine,
    goal = {},
  }: { readonly events: number; readonly engine: string; readonly goal?: { readonly atLeast?: number } },
): Figure[] {
  const over = `over ${engine}`;
  const rival = `bare \`node:http\` over bare ${engine}`;
  const made = `durable creates of 2 KiB, ${WRITERS} writers, ${over}`;
  const told = `replay of ${events} events, ${over}`;
  return [
    figure({
      what: `${made}: requests per second`,
      value: creates.ratio(SIDES, "rate"),
      unit: "ratio",
      rival,
      ...goal,
    }),
    figure({ what: "the same, CPU per request", value: creates.ratio(SIDES, "cpu"), unit: "ratio", rival }),
    figure({ what: "the same, p99", value: creates.ratio(SIDES, "p99"), unit: "ratio", rival }),
    figure({ what: "the same, p99", value: creates.of("ours", "p99"), unit: "ms" }),
    figure({ what: "the same, p99 of the bare handler", value: creates.of("bare", "p99"), unit: "ms" }),
    figure({ what: "the same, requests per second", value: creates.of("ours", "rate"), unit: "1/s" }),
    figure({
      what: "the same, requests per second of the bare handler",
      value: creates.of("bare", "rate"),
      unit: "1/s",
    }),
    figure({
      what: "the same, processors that the load of the bare handler took",
      value: creates.of("bare", "load"),
      unit: "",
    }),
    figure({ what: `GET of 2 KiB, ${over}: CPU per request`, value: get.ratio(SIDES, "cpu"), unit: "ratio", rival }),
    figure({
      what: `LIST of 10,000 × 2 KiB, ${over}: bytes per second`,
      value: list.ratio(SIDES, "rate"),
      unit: "ratio",
      rival,
    }),
    figure({ what: "the same, CPU", value: list.ratio(SIDES, "cpu"), unit: "ratio", rival }),
    figure({ what: `${told}: events per second`, value: replay.ratio(SIDES, "rate"), unit: "ratio", rival }),
    figure({ what: "the same, CPU per event", value: replay.ratio(SIDES, "cpu"), unit: "ratio", rival }),
    figure({ what: "the same, events per second", value: replay.of("ours", "rate"), unit: "1/s" }),
    figure({
      what: "the same, anonymous memory at its peak",
      value: replayMemory / MIB,
      unit: "MiB",
      rival: "before it",
    }),
  ];
}
