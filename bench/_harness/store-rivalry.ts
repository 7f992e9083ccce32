import assert from "node:assert/strict";
import type { BareStore } from "../_servers/bare-handler.ts";
import type { Stored } from "../_servers/stored.ts";
import { nameOf, pathOf, type StorePlace, TURNS } from "../_servers/stored-kinds.ts";
import { type Answer, fetchOnce, getRequest, load } from "./http.ts";
import { type Measurable, Remote } from "./remote.ts";
import { firstLines, type Replayed, replay } from "./replay.ts";
import { interleave, type Rounds } from "./rounds.ts";
import { BEARER, type Created, Creates } from "./store-creates.ts";

const SIZE = 2048;
const LISTED = 10_000;
const SIDES = ["ours", "bare"] as const;
type Side = (typeof SIDES)[number];

const list = getRequest(pathOf("Widget"), BEARER);
const get = getRequest(pathOf("Widget", nameOf(4711)), BEARER);

/** In rounds. There is more code to compile on our side. */
const WARM = { ours: 4, bare: 1 } as const;

/** What is measured, and how much of it. */
export interface Contest {
  readonly engine: "lmdb" | "etcd";
  /** Each keeps its own. */
  readonly places: Readonly<Record<Side, StorePlace>>;
  readonly events: number;
  readonly rounds: number;
  /** How long a round of creates takes, ms; reads take less. */
  readonly milliseconds: number;
}

/** What came of it. */
export interface Outcome {
  readonly creates: Rounds<Side, Created>;
  readonly get: Rounds<Side, { readonly rate: number; readonly cpu: number }>;
  readonly list: Rounds<Side, { readonly rate: number; readonly cpu: number }>;
  readonly replay: Rounds<Side, { readonly rate: number; readonly cpu: number }>;
  /** What replays of ours add to the server's memory at most, bytes. */
  readonly replayMemory: number;
}

/** A server of ours and its rival, in turns. */
export async function compete({ engine, places, events, rounds, milliseconds }: Contest): Promise<Outcome> {
  await using ours = await Remote.start<Stored>("stored", ["--expose-gc"]);
  await using bare = await Remote.start<BareStore<StorePlace>>(`bare-${engine}`);
  await ours.ask("open", places.ours);
  await bare.ask("open", places.bare);
  const ports = { ours: await ours.ask("listen"), bare: await bare.ask("listen") };
  const servers: Readonly<Record<Side, Measurable>> = { ours, bare };
  const side = (name: Side) => ({ server: servers[name], port: ports[name] });

  const writes = new Creates(SIZE);
  for (const name of SIDES) await writes.check(ports[name]);
  for (const name of SIDES) await writes.measure(side(name), WARM[name] * milliseconds);
  const creates = await interleave(SIDES, rounds, (name) => writes.measure(side(name), milliseconds));

  const before = await ours.ask("fill", { kind: "Tick", bytes: SIZE / 2, count: events, turns: TURNS });
  await ours.ask("fill", { kind: "Widget", bytes: SIZE, count: LISTED });

  const idle = await ours.ask("anonymous");
  await ours.ask("startPeak");
  const watch = `${pathOf("Tick")}?watch=true&resourceVersion=`;
  const watchOf = (name: Side, after: number): Replayed => ({
    port: ports[name],
    path: `${watch}${after}`,
    headers: BEARER,
  });
  const lines = await firstLines(watchOf("ours", before), events);
  const replayMemory = (await ours.ask("stopPeak")) - idle;
  checkEvents(lines, events);
  const watches: Readonly<Record<Side, Replayed>> = {
    ours: watchOf("ours", before),
    bare: watchOf("bare", await bare.ask("keepLines", { lines })),
  };
  const whole = await fetchOnce(ports.ours, list);
  checkList(whole);
  // Before anything is replayed: how much follows in the history costs etcd time.
  await bare.ask("keepList", { path: pathOf("Widget"), body: whole.body });

  const expected = { ours: lines, bare: await firstLines(watches.bare, events) };
  assert.ok(sameLines(expected.bare, lines), "the rival tells other events");
  const replayed = await interleave(SIDES, 2, async (name) => {
    const cpu = await servers[name].ask("cpu");
    const seconds = await replay(watches[name], expected[name]);
    return { rate: events / seconds, cpu: ((await servers[name].ask("cpu")) - cpu) / events };
  });

  const answers = {
    get: { ours: await fetchOnce(ports.ours, get), bare: await fetchOnce(ports.bare, get) },
    list: { ours: whole, bare: await fetchOnce(ports.bare, list) },
  };
  for (const { ours, bare } of Object.values(answers))
    assert.ok(ours.body.equals(bare.body), "the rival sends other bytes");
  const read = (what: "get" | "list", connections: number, share: number) => async (name: Side) => {
    const expected = answers[what][name];
    const cpu = await servers[name].ask("cpu");
    const request = what === "get" ? get : list;
    const options = { port: ports[name], request, expected, connections, milliseconds: share * milliseconds };
    const { answers: count, seconds } = await load(options);
    return { rate: (count * expected.length) / seconds, cpu: ((await servers[name].ask("cpu")) - cpu) / count };
  };
  await interleave(SIDES, 1, read("get", 16, 0.6));
  const got = await interleave(SIDES, rounds, read("get", 16, 0.3));
  await interleave(SIDES, 1, read("list", 4, 0.4));
  const listed = await interleave(SIDES, rounds, read("list", 4, 0.5));
  return { creates, get: got, list: listed, replay: replayed, replayMemory };
}

function checkList({ status, body }: Answer): void {
  assert.equal(status, 200);
  const { kind, items } = JSON.parse(body.toString());
  assert.deepEqual([kind, items.length], ["WidgetList", LISTED]);
  for (const [n, { metadata }] of items.entries()) assert.equal(metadata.name, nameOf(n));
  assert.ok(Math.abs(body.length / LISTED - SIZE) < 64, `the list has ${body.length} bytes`);
}

/** Each change, once, in the order of versions: concurrent writes come in any. */
function checkEvents(lines: Buffer, count: number): void {
  const text = lines.toString("latin1");
  const all = (pattern: RegExp): number[] => Array.from(text.matchAll(pattern), ([, n]) => Number(n));
  const versions = all(/"resourceVersion":"(\d+)"/g);
  assert.ok(versions.every((version, n) => n === 0 || version > (versions[n - 1] ?? 0)));
  assert.deepEqual(
    Uint32Array.from(all(/"n":1(\d{6})/g)).sort(),
    Uint32Array.from({ length: count }, (_, n) => n),
  );
}

function sameLines(one: Buffer, other: Buffer): boolean {
  const sorted = (lines: Buffer): string => lines.toString("latin1").split("\n").sort().join("\n");
  return one.equals(other) || sorted(one) === sorted(other);
}
