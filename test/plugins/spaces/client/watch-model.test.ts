// Random watches across Spaces: after any events, stops and restarts, the reader knows the final state.
import { followSpaces, type Spaces } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { Random } from "../../../_support/random.ts";
import { until } from "../../../_support/until.ts";
import { NOTE, QUICK } from "../../../client/informer/support.ts";
import { Reader } from "../support/reader.ts";
import { Shops } from "../support/shops.ts";

const ROUNDS = 12;
const STEPS = 80;
const NAMES = ["a", "b", "c"] as const;
/** Number of events from which a new process resumes. */
const RESUMED = 12;
const { backoff } = QUICK;

describe("random watches across Spaces", function () {
  this.timeout(120_000);

  for (let round = 0; round < ROUNDS; round++) {
    it(`know the final state, and resume from every event (seed ${round})`, async () => {
      await using stack = new AsyncDisposableStack();
      const pick = new Random(round);
      const shops = stack.use(await Shops.start());
      for (const name of NAMES) await shops.open(name, { history: 8 });
      const there = new Set<string>(NAMES);
      const follow = (): Spaces =>
        stack.use(followSpaces({ client: shops.management.client, namespace: "default", onError: () => undefined }));
      const read = (spaces: Spaces, from?: Told): Reader =>
        stack.use(
          new Reader(
            spaces.watch(NOTE, { backoff, ...(from !== undefined && { cursor: from.cursor }) }),
            from === undefined ? { keeps: true } : { known: from.known as Reader["known"], keeps: true },
          ),
        );
      let spaces = follow();
      let reader = read(spaces);
      const told: Told[] = [];

      const set = (): void => {
        const name = pick.pick(NAMES);
        shops.set(name, `n${pick.below(5)}`, String(pick.below(1000)));
      };
      const steps: readonly (() => unknown)[] = [
        set,
        set,
        set,
        () => {
          const name = pick.pick(NAMES);
          const [note] = shops.has(name).keys();
          if (note !== undefined) shops.delete(name, note);
        },
        () => shops.wire(pick.pick(NAMES)).cut(),
        () => shops.wire(pick.pick(NAMES)).stop(),
        () => shops.wire(pick.pick(NAMES)).start(),
        () => shops.forget(pick.pick(NAMES), 12),
        async () => {
          const name = pick.pick(NAMES);
          if (there.delete(name)) await shops.remove(name);
        },
        async () => {
          const name = pick.pick(NAMES);
          if (there.has(name)) return;
          if (pick.chance(0.5)) await shops.move(name, { history: 8 });
          else await shops.rotate(name, "alice");
          await shops.found(name);
          there.add(name);
        },
        () => shops.move(pick.pick(NAMES), { history: 8 }, new Map([["n0", "moved"]])),
        () => shops.rotate(pick.pick(NAMES), pick.pick(["alice", "nobody-knows-this"])),
        () => new Promise((resolve) => setImmediate(resolve)),
        async () => {
          if (pick.chance(0.5)) reader.hold();
          else reader.go();
        },
        // The process is killed and another one resumes.
        async () => {
          reader.go();
          const last = reader.cursors.at(-1);
          await spaces[Symbol.asyncDispose]();
          await reader.over;
          told.push(...reader.cursors);
          spaces = follow();
          expect(reader.wrong).to.eql([]);
          reader = last === undefined ? read(spaces) : read(spaces, last);
        },
      ];
      for (let step = 0; step < STEPS; step++) {
        await pick.pick(steps)();
        if (pick.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
      }
      for (const name of NAMES) {
        await shops.wire(name).start();
        await shops.rotate(name, "alice");
      }
      reader.go();
      const truth = JSON.stringify(sorted([...there].map((name) => [`default/${name}`, shops.has(name)])));
      const knowsAll = (one: Reader): boolean => JSON.stringify(sorted([...one.known])) === truth;
      await until(() => knowsAll(reader), { what: `${truth} is known` });
      told.push(...reader.cursors);
      expect(reader.wrong).to.eql([]);
      const every = Math.max(1, Math.floor(told.length / RESUMED));
      const last = follow();
      for (const from of told.filter((_, at) => at % every === 0)) {
        const again = read(last, from);
        await until(() => knowsAll(again), { what: `${truth} is known from ${from.cursor}` });
        expect(again.wrong).to.eql([]);
        await again[Symbol.asyncDispose]();
      }
    });
  }
});

type Told = Reader["cursors"][number];

/** Known objects of the Spaces that have any. */
const sorted = (all: readonly (readonly [string, ReadonlyMap<string, string>])[]): unknown =>
  all
    .filter(([, notes]) => notes.size > 0)
    .map(([space, notes]) => [space, [...notes].sort()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
