import { lmdbStore, type Store } from "@virtual-workspaces/store";
import { tree } from "../../_setup/tree.ts";
import { everything, put, refused } from "../contract/subject.ts";

const close = (store: Store) => store[Symbol.asyncDispose]();

async function fill(store: Store, keys: number): Promise<void> {
  const puts = Array.from({ length: keys }, (_, index) => put(`k${index}`, ""));
  await Promise.all(puts.map((operation) => store.commit({ conditions: [], operations: [operation] })));
}

describe("reading a store on lmdb", () => {
  it("says that it is closed where it is closed meanwhile", async () => {
    using folder = tree({});
    const store = await lmdbStore({ dir: folder.path });
    await fill(store, 3000);
    const readOnly = await lmdbStore({ dir: folder.path, readOnly: true });
    for (const each of [readOnly, store]) {
      const cut = refused("Closed", () => each.range(everything));
      await close(each);
      await cut;
    }
  });
});
