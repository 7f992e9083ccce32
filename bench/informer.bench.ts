// our informer against that of @kubernetes/client-node: dead and cut connections, a spell of 503, quiet watches, memory
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { Authority, SERVER_AUTH } from "../test/_support/certificates.ts";
import { Remote } from "./_harness/remote.ts";
import { type Figure, figure, report } from "./_harness/report.ts";
import type { FollowClientNode } from "./_servers/follow-client-node.ts";
import type { FollowOurs } from "./_servers/follow-ours.ts";
import type { Follower } from "./_servers/follower.ts";
import type { Informed } from "./_servers/informed.ts";

const RIVAL = "@kubernetes/client-node 2, makeInformer";
const OBJECTS = 10_000;
const short = process.argv.includes("--short");
const CUTS = short ? 4 : 10;
const SPELL = 3000;
/** How long a change is waited for, s. */
const PATIENCE = short ? 16 : 36;
const KIB = 1024;
const MIB = 1024 * KIB;

const authority = Authority.root("bench");
const tls = authority.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] });
const ca = authority.cert;
type Side = Remote<Follower>;

report("informer", [...(await faults()), ...(await memory())]);

/** All at the same time, each on connections of its own: what takes long for one, takes long for the other as well. */
async function faults(): Promise<Figure[]> {
  await using server = await Remote.start<Informed>("informed");
  await using brittle = await Remote.start<Informed>("informed");
  await using ours = await Remote.start<FollowOurs>("follow-ours");
  await using rival = await Remote.start<FollowClientNode>("follow-client-node");
  const sides = [ours, rival] as const;
  const ports = await server.ask("listen", tls);
  const spell = (await brittle.ask("listen", tls)).direct;
  await Promise.all([server.ask("fill", 20), brittle.ask("fill", 20)]);
  const lanes = { quiet: ports.direct, cut: ports.cut, dead: ports.dead, spell } as const;
  // Started anew after errors where connections are cut; a spell shows what comes of it when nobody does.
  for (const [lane, port] of Object.entries(lanes))
    for (const side of sides) await side.ask("follow", { lane, port, ca, restart: lane === "cut" });
  for (const side of sides) for (const lane of Object.keys(lanes)) await until(side, lane);
  const [quiet, dead, spelt, lists] = await Promise.all([
    short ? [] : quietly(server, sides),
    deadly(server, sides),
    spellbound(brittle, { sides, port: spell }),
    cutting(server, sides),
  ]);
  const timed = (what: string, [own, theirs]: readonly number[], goal: object = {}): Figure[] => [
    figure({ what: `${what}: ours`, value: own ?? Number.NaN, unit: "s", ...goal }),
    figure({ what: `${what}: theirs, ${PATIENCE} if never`, value: theirs ?? Number.NaN, unit: "s", rival: RIVAL }),
  ];
  return [
    ...timed("a change while the connection is dead, until it is seen", dead, { atMost: 15 }),
    ...timed(`a change after ${SPELL / 1000} s of 503, until it is seen`, spelt, { atMost: 10 }),
    ...(short ? [] : timed("a change after 34 s of quiet, until it is seen", quiet, { atMost: 1 })),
    figure({ what: `lists in ${CUTS} cuts: ours`, value: lists[0] ?? Number.NaN, unit: "count", exactly: 1 }),
    figure({
      what: `lists in ${CUTS} cuts: theirs, started anew on errors`,
      value: lists[1] ?? Number.NaN,
      unit: "count",
      rival: RIVAL,
    }),
  ];
}

/** Resolves when an informer has all that there is. */
async function until(side: Side, lane: string): Promise<void> {
  while ((await side.ask("size", lane)) < 20) await pause(20);
}

type Sides = readonly [Side, Side];

async function quietly(server: Remote<Informed>, sides: Sides): Promise<number[]> {
  await pause(34_000);
  const at = await server.ask("set", "after-quiet");
  await pause(1500);
  return seen(sides, { lane: "quiet", name: "after-quiet", at });
}

async function deadly(server: Remote<Informed>, sides: Sides): Promise<number[]> {
  await server.ask("deaden");
  const at = await server.ask("set", "while-dead");
  await pause(PATIENCE * 1000 - 500);
  return seen(sides, { lane: "dead", name: "while-dead", at });
}

async function spellbound(
  server: Remote<Informed>,
  { sides, port }: { sides: Sides; port: number },
): Promise<number[]> {
  await pause(1000);
  await server.ask("spell", { port, milliseconds: SPELL });
  const at = await server.ask("set", "after-spell");
  await pause(PATIENCE * 1000 - SPELL - 2000);
  return seen(sides, { lane: "spell", name: "after-spell", at });
}

/** @returns how often each has read everything */
async function cutting(server: Remote<Informed>, sides: Sides): Promise<number[]> {
  for (let n = 0; n < CUTS; n++) {
    await pause(2500);
    await server.ask("cut");
    await server.ask("set", "cut");
  }
  await pause(5000);
  // What is compared is of worth only if both have seen the last change.
  for (const side of sides) assert((await side.ask("seen", { lane: "cut", name: "cut" })) > 0);
  return Promise.all(sides.map((side) => side.ask("lists", "cut")));
}

/** How long after `at` each has seen a change, s. */
function seen(sides: Sides, { at, ...what }: { lane: string; name: string; at: number }): Promise<number[]> {
  return Promise.all(
    sides.map(async (side) => {
      const time = await side.ask("seen", what);
      return time === -1 ? PATIENCE : Math.max(0, time - at) / 1000;
    }),
  );
}

async function memory(): Promise<Figure[]> {
  await using server = await Remote.start<Informed>("informed");
  const { direct } = await server.ask("listen", tls);
  await server.ask("fill", OBJECTS);
  const flags = ["--expose-gc"];
  const measured = [];
  for (const name of ["follow-ours", "follow-client-node"]) {
    await using side = await Remote.start<Follower>(name, flags);
    const bare = await side.ask("anonymous");
    await side.ask("import");
    const loaded = await side.ask("anonymous");
    const { held } = await side.ask("memory");
    await side.ask("follow", { lane: "all", port: direct, ca, restart: false });
    while ((await side.ask("size", "all")) < OBJECTS) await pause(50);
    const full = ((await side.ask("anonymous")) - loaded) / MIB;
    const each = ((await side.ask("memory")).held - held) / OBJECTS;
    measured.push({ load: (loaded - bare) / MIB, full, each });
  }
  const [ours, theirs] = measured;
  if (ours === undefined || theirs === undefined) throw new Error("unreachable");
  return [
    figure({ what: "anonymous memory of the import: ours", value: ours.load, unit: "MiB" }),
    figure({
      what: "anonymous memory of the import",
      value: ours.load / theirs.load,
      unit: "ratio",
      rival: RIVAL,
      atMost: 0.6,
    }),
    figure({ what: "heap and buffers of an object of 1 KiB: ours", value: ours.each, unit: "bytes" }),
    figure({
      what: "heap and buffers of an object of 1 KiB",
      value: ours.each / theirs.each,
      unit: "ratio",
      rival: RIVAL,
      atMost: 1.1,
    }),
    figure({ what: `anonymous memory of ${OBJECTS} objects of 1 KiB: ours`, value: ours.full, unit: "MiB" }),
    figure({
      what: `anonymous memory of ${OBJECTS} objects of 1 KiB`,
      value: ours.full / theirs.full,
      unit: "ratio",
      rival: RIVAL,
    }),
  ];
}
