// The promise that all watches rest on: for random histories with random disconnects, failures and changes of permissions, a
// watcher that starts anywhere and reconnects anywhere ends with exactly what a list shows, and saw ADDED and DELETED in an
// order that explains it. SEED=… plays one history again, HISTORIES=… more of them.
import { expect } from "chai";
import type { Random } from "../../_support/random.ts";
import { play, type System } from "./history.ts";
import { ofCollections } from "./of-collections.ts";
import { ofSources } from "./of-sources.ts";
import { ofUpstream } from "./of-upstream.ts";

const SYSTEMS: Readonly<
  Record<string, { readonly make: (random: Random) => Promise<System>; readonly histories: number }>
> = {
  "views of collections and permissions": { make: ofCollections, histories: 40 },
  "sources that fail, come and go, as one": { make: ofSources, histories: 40 },
  "a view of another server, cut off and started anew": { make: ofUpstream(), histories: 20 },
};

const { SEED, HISTORIES } = process.env;

describe("whoever watches, leaves and comes back ends with what a list shows", () => {
  for (const [name, { make, histories }] of Object.entries(SYSTEMS)) {
    it(`over ${name}`, async () => {
      const seeds =
        SEED === undefined
          ? Array.from({ length: Number(HISTORIES ?? histories) }, (_, index) => index + 1)
          : [Number(SEED)];
      const sum = { events: 0, begun: 0, resumed: 0 };
      for (const seed of seeds) {
        const { events, begun, resumed } = await play(make, seed);
        sum.events += events;
        sum.begun += begun;
        sum.resumed += resumed;
      }
      if (SEED !== undefined) return;
      expect(sum.events / seeds.length, "events in a history").to.be.above(10);
      expect(sum.resumed / seeds.length, "reconnects in a history").to.be.above(1);
    }).timeout(600_000);
  }
});
