import assert from "node:assert/strict";
import type { BareStore } from "../_servers/bare-handler.ts";
import type { Stored } from "../_servers/stored.ts";
import { nameOf, pathOf, type StorePlace } from "../_servers/stored-kinds.ts";
import { Remote } from "./remote.ts";
import { firstLines } from "./replay.ts";
import { type Figure, figure } from "./report.ts";
import { interleave } from "./rounds.ts";
import { BEARER } from "./store-creates.ts";

const SIDES = ["ours", "bare"] as const;

/** How many keys there are, and how many of them are of the kind that is listed. */
export interface Opening {
  readonly engine: "lmdb" | "etcd";
  readonly place: StorePlace;
  readonly keys: number;
  readonly listed: number;
}

/** What a store with many keys takes before it answers, and holds. */
export async function opening({ engine, place, keys, listed }: Opening): Promise<Figure[]> {
  await fill(place, keys - listed, listed);
  await using server = await Remote.start<Stored>("stored", ["--expose-gc"]);
  await using bare = await Remote.start<BareStore<StorePlace>>(`bare-${engine}`);
  const asked = { place, kind: "Small", name: nameOf(4711) } as const;
  const measure = async (name: (typeof SIDES)[number]): Promise<{ ms: number }> => ({
    ms: name === "ours" ? await server.ask("openAndGet", asked) : await bare.ask("openAndGet", asked),
  });
  await interleave(SIDES, 1, measure);
  const opened = await interleave(SIDES, 5, measure);

  const before = await server.ask("anonymous");
  await server.ask("open", place);
  const idle = await held(server);
  const port = await server.ask("listen");
  const first = await list(port, listed);
  const again = await list(port, listed);
  const full = await held(server);
  const many = keys.toLocaleString("en");
  return [
    figure({
      what: `open of ${many} keys over ${engine}, to the first get`,
      value: opened.ratio(SIDES, "ms"),
      unit: "ratio",
      rival: `bare ${engine}, the same keys`,
    }),
    figure({ what: "the same", value: opened.of("ours", "ms"), unit: "ms" }),
    figure({
      what: `first LIST of a kind, ${listed.toLocaleString("en")} small objects of them`,
      value: first / again,
      unit: "ratio",
      rival: "the second LIST",
    }),
    figure({ what: "the same", value: first, unit: "s" }),
    figure({
      what: "anonymous memory per key, on disk and not read",
      value: (idle.anonymous - before) / keys,
      unit: "bytes",
    }),
    figure({
      what: "anonymous memory per object, listed, some 300 bytes each",
      value: (full.anonymous - idle.anonymous) / listed,
      unit: "bytes",
    }),
    figure({
      what: "the same, heap and buffers of it",
      value: (full.held - idle.held) / listed,
      unit: "bytes",
    }),
  ];
}

/** Bytes: what the system gave, and what of it is in use. */
async function held(server: Remote<Stored>): Promise<{ readonly anonymous: number; readonly held: number }> {
  const { held } = await server.ask("memory");
  return { anonymous: await server.ask("anonymous"), held };
}

/** By a process that ends: what is opened is a file, not its memory. */
async function fill(place: StorePlace, unlisted: number, listed: number): Promise<void> {
  await using server = await Remote.start<Stored>("stored");
  await server.ask("open", place);
  // First, and so long ago that a list does not begin with the changes since.
  await server.ask("fill", { kind: "Widget", bytes: 0, count: listed });
  await server.ask("fill", { kind: "Small", bytes: 0, count: unlisted });
  await server.ask("close");
}

/** @returns how long it took, s */
async function list(port: number, count: number): Promise<number> {
  const began = performance.now();
  const body = await firstLines({ port, path: pathOf("Widget"), headers: BEARER }, 1);
  const seconds = (performance.now() - began) / 1000;
  assert.equal(JSON.parse(body.toString()).items.length, count);
  return seconds;
}
