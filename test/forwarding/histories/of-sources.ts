// Several sources merged, with and without a view, that fail in every way and are added and removed.
import { merged, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { FaultySource } from "../../_support/faulty-source.ts";
import { startPlain } from "../../_support/plain.ts";
import type { Random } from "../../_support/random.ts";
import type { System } from "./history.ts";
import { PLACES, randomThing, TEAMS, Thing, type ThingContent, things } from "./kinds.ts";
import { truthOf } from "./of-collections.ts";
import { keyOf, type Watcher } from "./watcher.ts";

const NAMES = ["a", "b", "c"] as const;
/** Object that every matching place shows. */
const STAYS = { label: "x", team: "red", gone: false } as const;

export async function ofSources(random: Random): Promise<System> {
  const make = (): FaultySource<ThingContent> => new FaultySource<ThingContent>(Thing.collection());
  const sources = new Map(NAMES.map((name) => [name as string, make()]));
  const removed = new Set<string>();
  const all = merged<ThingContent>({
    sources: Object.fromEntries(sources),
    shareKey: () => "",
    patience: 15,
    onError: () => undefined,
  });
  const viewed = random.chance(0.5);
  const red = view({ from: all, select: ({ spec }) => spec.team !== "sealed" });
  const server = await startPlain(things(Thing.serve(viewed ? red : all)), { bookmarkEvery: 2 });
  const order = [...NAMES] as string[];
  /** No object disappears except by an apparent failure: there must be no DELETED. */
  const isCalm = random.chance(0.3);
  const refusing = new Set<string>();
  /** Number of possible disappearances of each object: an unreachable object stays. */
  const reasons = new Map<string, number>();
  const mayLeave = (...keys: readonly string[]): void => {
    for (const key of keys) reasons.set(key, (reasons.get(key) ?? 0) + 1);
  };
  const keysOf = (name: string): string[] =>
    [...(sources.get(name)?.objects.cache().cache.snapshot().objects.entries() ?? [])].map(([key]) => key);
  const left = new WeakMap<Watcher, Map<string, number>>();

  const write = (random: Random): string => {
    const thing = randomThing(random);
    const { cluster, namespace, name, label, team, n, gone } = isCalm ? { ...thing, ...STAYS } : thing;
    const at = isCalm ? name : random.pick(NAMES);
    const part = sources.get(at)?.objects.in(cluster, namespace);
    // The first object at one source may replace another source's.
    mayLeave(`${cluster}/${namespace}/${name}`);
    if (gone) part?.delete(name);
    else part?.set(name, { n, team }, { labels: label === undefined ? {} : { l: label } });
    return `at ${at} ${gone ? "delete" : "set"} ${cluster}/${namespace}/${name} ${team} ${label ?? ""} ${n}`;
  };
  /** Moves an object to another source, where it is temporarily duplicated. */
  const move = (random: Random): string => {
    const [from, to] = [random.pick(NAMES), random.pick(NAMES)];
    const cluster = random.pick(["c1", "c2"]);
    const [object] = sources.get(from)?.objects.in(cluster, "ns1").list() ?? [];
    const there = sources.get(to)?.objects;
    const { name = "" } = object?.metadata ?? {};
    if (object === undefined || there === undefined || from === to || there.in(cluster, "ns1").get(name) !== undefined)
      return "nothing to move";
    mayLeave(`${cluster}/ns1/${name}`, `${cluster}/ns1/${name}`);
    there.create({ cluster, namespace: "ns1" } as never, object);
    if (random.chance(0.7)) sources.get(from)?.objects.in(cluster, "ns1").delete(name);
    return `move ${cluster}/ns1/${name} from ${from} to ${to}`;
  };
  const disturb = (random: Random): string => {
    const name = random.pick(NAMES);
    const source = sources.get(name);
    const fault = random.pick(["down", "hung", isCalm ? "down" : "forbidden", "mend", "mend", "lose"] as const);
    refusing.delete(name);
    if (fault === "forbidden") refusing.add(name);
    // Objects that it hides when it fails, and those that it replaces when it is back.
    if (fault === "forbidden") mayLeave(...keysOf(name), ...keysOf(name));
    if (fault === "mend" || fault === "lose") source?.mend({ lost: fault === "lose" });
    else source?.break(fault);
    return `${name} ${fault}`;
  };
  const exchange = (random: Random): string => {
    const name = random.pick(NAMES);
    const old = sources.get(name) as FaultySource<ThingContent>;
    mayLeave(...keysOf(name));
    if (removed.delete(name)) {
      all.setSource(name, old);
      order.splice(order.indexOf(name), 1);
      order.push(name);
      return `${name} is added`;
    }
    if (random.chance(0.5)) {
      removed.add(name);
      all.deleteSource(name);
      return `${name} is removed`;
    }
    // Another server with the same objects.
    const anew = new FaultySource<ThingContent>(old.objects);
    refusing.delete(name);
    sources.set(name, anew);
    all.setSource(name, anew);
    return `${name} is another`;
  };

  return {
    server,
    places: PLACES,
    act: (random) => {
      const dice = isCalm ? random.next() * 0.9 : random.next();
      if (dice < 0.6) return write(random);
      if (dice < 0.7 && !isCalm) return move(random);
      return dice < 0.92 ? disturb(random) : exchange(random);
    },
    mend: () => {
      const kept = [...refusing].filter((name) => !removed.has(name)).slice(0, NAMES.length - removed.size - 1);
      refusing.clear();
      for (const [name, source] of sources) {
        if (kept.includes(name)) refusing.add(name);
        else source.mend({ lost: random.chance(0.5) });
      }
    },
    truth: (place) => {
      const shown = new Map<string, Parameters<typeof truthOf>[1][number]>();
      for (const name of order.filter((one) => !removed.has(one) && !refusing.has(one))) {
        const { cache } = (sources.get(name) as FaultySource<ThingContent>).objects.cache();
        for (const [key, { bytes }] of cache.snapshot().objects.entries())
          if (!shown.has(key)) shown.set(key, JSON.parse(bytes.toString()));
      }
      return truthOf(place, [...shown.values()], viewed ? ["red", "blue"] : TEAMS);
    },
    told: ({ metadata, ...object }) => [metadata.uid, metadata.labels, object["spec"]],
    onEvent: (watcher, { type, object }) => {
      if (type !== "DELETED") return;
      expect(isCalm, `DELETED of ${keyOf(object)}, which is there`).to.equal(false);
      const counts = left.get(watcher) ?? new Map<string, number>();
      left.set(watcher, counts);
      const key = keyOf(object);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      expect(counts.get(key), `DELETED of ${key}`).to.be.at.most(reasons.get(key) ?? 0);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
