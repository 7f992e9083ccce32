import assert from "node:assert/strict";
import { join } from "node:path";
import type { BareStore } from "../_servers/bare-store.ts";
import type { Stored } from "../_servers/stored.ts";
import { nameOf, pathOf } from "../_servers/stored-kinds.ts";
import { type Answer, fetchOnce, getRequest, load } from "./http.ts";
import { type Measurable, Remote } from "./remote.ts";
import { firstLines, type Replayed, replay } from "./replay.ts";
import { interleave, type Rounds } from "./rounds.ts";
import { BEARER, type Created, Creates } from "./store-creates.ts";

const SIZE = 2048;
const LISTED = 10_000;
/** Objects that take turns in changing. */
const TURNS = 1000;
const SIDES = ["ours", "bare"] as const;
type Side = (typeof SIDES)[number];

const list = getRequest(pathOf("Widget"), BEARER);
const get = getRequest(pathOf("Widget", nameOf(4711)), BEARER);

/** ms. There is more code to compile on our side. */
const WARM = { ours: 3000, bare: 700 } as const;

/** What is measured, and how much of it. */
export interface Contest {
  readonly folder: string;
  readonly events: number;
  readonly rounds: number;
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
export async function compete({ folder, events, rounds }: Contest): Promise<Outcome> {
  await using ours = await Remote.start<Stored>("stored", ["--expose-gc"]);
  await using bare = await Remote.start<BareStore>("bare-store", ["--expose-gc"]);
  await ours.ask("open", { dir: join(folder, "ours") });
  await bare.ask("open", { dir: join(folder, "bare") });
  const ports = { ours: await ours.ask("listen"), bare: await bare.ask("listen") };
  const servers: Readonly<Record<Side, Measurable>> = { ours, bare };
  const side = (name: Side) => ({ server: servers[name], port: ports[name] });

  const writes = new Creates(SIZE);
  for (const name of SIDES) await writes.check(ports[name]);
  for (const name of SIDES) await writes.measure(side(name), WARM[name]);
  const creates = await interleave(SIDES, rounds, (name) => writes.measure(side(name), 1000));

  const before = await ours.ask("fill", { kind: "Tick", bytes: SIZE / 2, count: events, turns: TURNS });
  await ours.ask("fill", { kind: "Widget", bytes: SIZE, count: LISTED });

  const idle = await ours.ask("anonymous");
  await ours.ask("startPeak");
  const watch = `${pathOf("Tick")}?watch=true&resourceVersion=`;
  const watches: Readonly<Record<Side, Replayed>> = {
    ours: { port: ports.ours, path: `${watch}${before}`, headers: BEARER },
    bare: { port: ports.bare, path: `${watch}0`, headers: BEARER },
  };
  const lines = await firstLines(watches.ours, events);
  const replayMemory = (await ours.ask("stopPeak")) - idle;
  checkEvents(lines, events);
  await bare.ask("keepLines", { lines });
  const replayed = await interleave(SIDES, 2, async (name) => {
    const cpu = await servers[name].ask("cpu");
    const seconds = await replay(watches[name], lines);
    return { rate: events / seconds, cpu: ((await servers[name].ask("cpu")) - cpu) / events };
  });

  const whole = await fetchOnce(ports.ours, list);
  checkList(whole);
  await bare.ask("keepList", { path: pathOf("Widget"), body: whole.body });
  const answers = {
    get: { ours: await fetchOnce(ports.ours, get), bare: await fetchOnce(ports.bare, get) },
    list: { ours: whole, bare: await fetchOnce(ports.bare, list) },
  };
  for (const { ours, bare } of Object.values(answers))
    assert.ok(ours.body.equals(bare.body), "the rival sends other bytes");
  const read = (what: "get" | "list", connections: number, milliseconds: number) => async (name: Side) => {
    const expected = answers[what][name];
    const cpu = await servers[name].ask("cpu");
    const options = { port: ports[name], request: what === "get" ? get : list, expected, connections, milliseconds };
    const { answers: count, seconds } = await load(options);
    return { rate: (count * expected.length) / seconds, cpu: ((await servers[name].ask("cpu")) - cpu) / count };
  };
  await interleave(SIDES, 1, read("get", 16, 600));
  const got = await interleave(SIDES, rounds, read("get", 16, 300));
  await interleave(SIDES, 1, read("list", 4, 400));
  const listed = await interleave(SIDES, rounds, read("list", 4, 500));
  return { creates, get: got, list: listed, replay: replayed, replayMemory };
}

function checkList({ status, body }: Answer): void {
  assert.equal(status, 200);
  const { kind, items } = JSON.parse(body.toString());
  assert.deepEqual([kind, items.length], ["WidgetList", LISTED]);
  for (const [n, { metadata }] of items.entries()) assert.equal(metadata.name, nameOf(n));
  assert.ok(Math.abs(body.length / LISTED - SIZE) < 64, `the list has ${body.length} bytes`);
}

/** Each change, once, in order. */
function checkEvents(lines: Buffer, count: number): void {
  const told = lines.toString("latin1").matchAll(/"n":(1\d{6})/g);
  const numbers = Array.from(told, ([, n]) => Number(n) - 1_000_000);
  assert.deepEqual(
    numbers,
    Array.from({ length: count }, (_, n) => n),
  );
}
