import { lmdbStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Tree, tree } from "../../_setup/tree.ts";
import { Reader } from "../contract/reader.ts";
import { everything, put, refused } from "../contract/subject.ts";

const HOUR = 3600;
const now = Date.now;

/** Sets the system clock ahead, in seconds. */
function setClock(ahead: number): void {
  Date.now = () => now() + ahead * 1000;
}

const close = (store: Store) => store[Symbol.asyncDispose]();
const count = async (store: Store): Promise<number> => (await store.range(everything)).entries.length;
const follow = (store: Store, after: number): Reader => new Reader(store.watch(everything, { after }));

/** Returns a store with a number of due leases, each with a key. */
async function withDueLeases(folder: Tree, leases: number): Promise<Store> {
  setClock(-HOUR);
  const store = await lmdbStore({ dir: folder.path });
  const granted = await Promise.all(Array.from({ length: leases }, () => store.grant(HOUR / 2)));
  const puts = granted.map((lease, index) =>
    store.commit({ conditions: [], operations: [put(`k${index}`, "", lease)] }),
  );
  await Promise.all(puts);
  await close(store);
  setClock(0);
  return await lmdbStore({ dir: folder.path });
}

describe("the leases of a store on LMDB", () => {
  afterEach("sets the clock right", () => {
    Date.now = now;
  });

  it("do not delay writers, however many are due", async () => {
    using folder = tree({});
    const store = await withDueLeases(folder, 3000);
    const head = await store.head();
    const reader = follow(store, head);
    await reader.next();
    const outcome = await store.commit({ conditions: [], operations: [put("among", "1")] });
    expect(outcome.revision, "others end after it").to.be.below(head + 2500);
    while (reader.revision < head + 3001) await reader.next();
    expect(await count(store)).to.equal(1);
    await reader.leave();
    await close(store);
  });

  it("continue to expire after a restart interrupted that", async () => {
    using folder = tree({});
    const first = await lmdbStore({ dir: folder.path });
    const lease = await first.grant(HOUR);
    for (let part = 0; part < 40; part++) {
      const operations = Array.from({ length: 128 }, (_, index) => put(`${part}/${index}`, "1", lease));
      await first.commit({ conditions: [], operations });
    }
    const before = follow(first, await first.head());
    const cut = refused("Closed", () => first.revoke(lease));
    await before.next();
    await close(first);
    await cut;
    const second = await lmdbStore({ dir: folder.path });
    expect(await count(second)).to.be.above(0);
    await refused("LeaseNotFound", () => second.renew(lease));
    const after = follow(second, await second.head());
    while ((await count(second)) > 0) await after.next();
    await close(second);
  });

  it("do not last longer if the system clock is set back", async () => {
    using folder = tree({});
    const store = await lmdbStore({ dir: folder.path });
    const lease = await store.grant(1);
    const { revision } = await store.commit({ conditions: [], operations: [put("a", "1", lease)] });
    setClock(-HOUR);
    expect(await store.remaining(lease.id)).to.be.within(0, 1);
    const reader = follow(store, revision);
    expect((await reader.next()).events).to.have.length(1);
    await close(store);
  });

  it("last at most the granted time if the clock was set back before a restart", async () => {
    using folder = tree({});
    setClock(HOUR);
    const first = await lmdbStore({ dir: folder.path });
    const lease = await first.grant(1);
    const { revision } = await first.commit({ conditions: [], operations: [put("a", "1", lease)] });
    await close(first);
    setClock(0);
    const second = await lmdbStore({ dir: folder.path });
    expect(await second.remaining(lease.id)).to.be.within(0, 1);
    expect((await follow(second, revision).next()).events).to.have.length(1);
    await close(second);
  });
});
