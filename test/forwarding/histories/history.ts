// Runs a random history against a system: events occur while clients watch, disconnect and resume. In the end each client's
// events must add up to the state of a list, and the list must be correct.
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { PlainServer } from "../../_support/plain.ts";
import { Random } from "../../_support/random.ts";
import { type OnEvent, type OnList, type Place, type State, Watcher } from "./watcher.ts";

/** System under test, and its possible events. */
export interface System extends AsyncDisposable {
  /** Server with bookmarks every few milliseconds. */
  readonly server: PlainServer;
  readonly places: readonly Place[];
  /** Performs one random event. @returns its description */
  act(random: Random): string | Promise<string>;
  /** Additional time of a step, in ms, so that events arrive across a network. @default 0 */
  readonly pace?: number;
  /** Ends all failures, so that the correct state is known. */
  mend(): void | Promise<void>;
  /** Revokes all permissions of a user, if possible: their objects disappear. */
  refuse?(user: Place["user"]): void;
  /** Correct final content of a list: key to the identity of the object's state. */
  truth(place: Place): ReadonlyMap<string, unknown>;
  /** Part of an object that {@link truth} contains. */
  told(object: State extends Map<string, infer O> ? O : never): unknown;
  /** Checks whether an event is permitted. @throws otherwise */
  readonly onEvent?: OnEvent;
  readonly onList?: OnList;
}

export interface Played {
  readonly events: number;
  readonly begun: number;
  readonly resumed: number;
}

const WATCHERS = 4;
const STEPS = 40;

export async function play(make: (random: Random) => Promise<System>, seed: number): Promise<Played> {
  const random = new Random(seed);
  const history: string[] = [];
  await using system = await make(random);
  const told = { onEvent: system.onEvent ?? (() => undefined), onList: system.onList ?? (() => () => undefined) };
  const watchers = random.many(
    WATCHERS,
    () =>
      new Watcher(system.server, random.pick(system.places), { random: new Random(random.below(2 ** 31)), ...told }),
  );
  try {
    for (let step = 0; step < STEPS; step++) {
      history.push(await one(system, watchers, random));
      for (const watcher of watchers) watcher.check();
    }
    await system.mend();
    if (system.refuse !== undefined && random.chance(0.3)) {
      await refused(system, watchers, random.pick(watchers).place.user);
      await system.mend();
    }
    for (const watcher of watchers) await settled(system, watcher);
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    throw new Error(`SEED=${seed}: ${told}\nhistory:\n  ${history.join("\n  ")}`, { cause: error });
  } finally {
    await Promise.allSettled(watchers.map((watcher) => watcher.disconnect()));
  }
  const sum = (of: keyof Played): number => watchers.reduce((total, { counts }) => total + counts[of], 0);
  return { events: sum("events"), begun: sum("begun"), resumed: sum("resumed") };
}

async function one(system: System, watchers: readonly Watcher[], random: Random): Promise<string> {
  if (random.chance(0.2)) {
    const watcher = random.pick(watchers);
    const at = watchers.indexOf(watcher);
    if (!watcher.isConnected) {
      watcher.connect();
      return `watcher ${at} comes`;
    }
    await watcher.disconnect();
    return `watcher ${at} leaves`;
  }
  if (random.chance(0.1)) {
    const watcher = random.pick(watchers);
    const { status } = await watcher.list();
    return `watcher ${watchers.indexOf(watcher)} lists: ${status}`;
  }
  const told = await system.act(random);
  for (let turns = random.below(4); turns > 0; turns--) await nextTurn();
  if (system.pace !== undefined) await delay(random.below(system.pace));
  return told;
}

const PATIENCE = 20_000;

/** Waits until watchers without permission see nothing. */
async function refused(system: System, watchers: readonly Watcher[], user: Place["user"]): Promise<void> {
  const theirs = watchers.filter(({ place }) => place.user === user);
  // Denied objects must have been seen before.
  for (const watcher of theirs) await settled(system, watcher);
  system.refuse?.(user);
  const late = performance.now() + PATIENCE;
  for (const watcher of theirs) {
    while (watcher.state.size > 0 && performance.now() < late) await delay(5);
    expect([...watcher.state.keys()], `shown to ${user}, who is refused`).to.deep.equal([]);
  }
}

/** Waits until a watcher has the state of a list that is not older. */
async function settled(system: System, watcher: Watcher): Promise<void> {
  watcher.connect();
  const late = performance.now() + PATIENCE;
  for (;;) {
    const list = await watcher.list();
    const truth = system.truth(watcher.place);
    const shown = new Map([...list.state].map(([key, object]) => [key, system.told(object)]));
    // A source without permission will not be read.
    const whole = list.status === 200 && list.warning?.includes("has not been reachable") !== true;
    if (whole) expect(sorted(shown), `list of ${watcher.place.path} and the truth`).to.deep.equal(sorted(truth));
    while (whole && BigInt(watcher.version ?? 0) < BigInt(list.version)) {
      watcher.check();
      if (performance.now() > late) break;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    watcher.check();
    if (whole && watcher.version === list.version) {
      expect(sorted(watcher.state), `what watched ${watcher.place.path} and the list`).to.deep.equal(
        sorted(list.state),
      );
      return;
    }
    if (performance.now() > late)
      throw new Error(
        `not settled: list ${list.status} ${list.version} ${list.warning ?? ""}, watcher at ${watcher.version}\n  ${watcher.log.slice(-20).join("\n  ")}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function sorted(map: ReadonlyMap<string, unknown>): [string, unknown][] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : 1));
}
