import { statSync } from "node:fs";
import { join } from "node:path";
import { lmdbStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { put, refused } from "../contract/subject.ts";
import { command, run } from "./child.ts";

const MEBIBYTE = 2 ** 20;

describe("the file of a store on LMDB", () => {
  const value = Buffer.alloc(2000, "x");
  const write = (store: Store, round: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const kept = put(`kept/${index}`, value);
        const gone =
          round % 2 === 0 ? put(`gone/${index}`, value) : ({ type: "delete", key: `gone/${index}` } as const);
        return store.commit({ conditions: [], operations: [kept, gone] });
      }),
    );

  it("does not grow if the history is compacted, even after an interrupted compaction", async () => {
    using folder = tree({});
    const file = join(folder.path, "store/data.mdb");
    for (let opening = 0; opening < 4; opening++) {
      const store = await lmdbStore({ dir: folder.path });
      for (let round = 0; round < 30; round++) {
        await write(store, round);
        await store.compact(await store.head());
      }
      for (let round = 0; round < 12; round++) await write(store, round);
      const compacting = refused("Closed", async () => {
        await store.compact(await store.head());
        await store.head();
      });
      await store[Symbol.asyncDispose]();
      await compacting;
    }
    // 66 MiB were written, of which 0.2 are current and 5 are left between compactions.
    expect(statSync(file).size).to.be.below(16 * MEBIBYTE);
  }).timeout(30_000);

  it("needs no more address space than a process may have", async () => {
    using folder = tree({});
    const open = command("open", folder.path).join(" ");
    const { said, errors, code } = await run(["sh", "-ec", `ulimit -v 8388608\nexec ${open}`]);
    expect([said, code], errors).to.deep.equal([["open"], 0]);
  });

  it("reuses the space of deleted keys", async () => {
    using folder = tree({});
    const store = await lmdbStore({ dir: folder.path });
    const file = join(folder.path, "store/data.mdb");
    const sizes: number[] = [];
    for (let round = 0; round < 6; round++) {
      const keys = Array.from({ length: 1000 }, (_, index) => `${round}/${index}`);
      await Promise.all(keys.map((key) => store.commit({ conditions: [], operations: [put(key, value)] })));
      await Promise.all(keys.map((key) => store.commit({ conditions: [], operations: [{ type: "delete", key }] })));
      await store.compact(await store.head());
      sizes.push(statSync(file).size);
    }
    await store[Symbol.asyncDispose]();
    expect(Math.max(...sizes)).to.be.below(2 * (sizes[0] ?? 0));
  }).timeout(30_000);
});
