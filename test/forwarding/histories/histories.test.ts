// The guarantee that all watches depend on. For random histories with random disconnects, failures and permission changes, a
// watcher that starts and reconnects anywhere ends with the state of a list. It saw ADDED and DELETED in a consistent order.
// SEED=… replays one history, HISTORIES=… runs more.
import { expect } from "chai";
import type { Random } from "../../_support/random.ts";
import { play, type System } from "./history.ts";
import { ofCollections } from "./of-collections.ts";
import { ofSources } from "./of-sources.ts";
import { ofUpstream, SHAPES } from "./of-upstream.ts";

const SYSTEMS: Readonly<
  Record<
    string,
    { readonly make: (random: Random) => Promise<System>; readonly histories: number; readonly atOnce?: number }
  >
> = {
  "views of collections and permissions": { make: ofCollections, histories: 40 },
  "sources that fail, come and go, as one": { make: ofSources, histories: 40 },
  ...Object.fromEntries(
    Object.entries(SHAPES).map(([name, shape]) => [name, { make: ofUpstream(shape), histories: 12, atOnce: 12 }]),
  ),
};

const { SEED, HISTORIES } = process.env;

describe("a watcher that disconnects and resumes ends with the state of a list", () => {
  for (const [name, { make, histories, atOnce = 1 }] of Object.entries(SYSTEMS)) {
    it(`over ${name}`, async () => {
      const seeds =
        SEED === undefined
          ? Array.from({ length: Number(HISTORIES ?? histories) }, (_, index) => index + 1)
          : [Number(SEED)];
      const sum = { events: 0, begun: 0, resumed: 0 };
      const left = [...seeds];
      // With a network in between, most of the time is spent waiting for it.
      const line = async (): Promise<void> => {
        for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
          const { events, begun, resumed } = await play(make, seed);
          sum.events += events;
          sum.begun += begun;
          sum.resumed += resumed;
        }
      };
      const lines = await Promise.allSettled(Array.from({ length: atOnce }, line));
      for (const one of lines) if (one.status === "rejected") throw one.reason;
      if (SEED !== undefined) return;
      expect(sum.events / seeds.length, "events in a history").to.be.above(10);
      expect(sum.resumed / seeds.length, "reconnects in a history").to.be.above(1);
    }).timeout(600_000);
  }
});
