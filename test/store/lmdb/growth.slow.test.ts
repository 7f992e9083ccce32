import { statSync } from "node:fs";
import { join } from "node:path";
import { lmdbStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { put } from "../contract/subject.ts";
import { command, run } from "./child.ts";

const GIBIBYTE = 2 ** 30;

describe("the file of a store on LMDB", () => {
  it("outgrows its mapped size, also with a reader in another process", async () => {
    using folder = tree({});
    const store = await lmdbStore({ dir: folder.path });
    const reading = run(command("follow", folder.path));
    for (let revision = 2; revision <= 300; revision++) {
      const value = Buffer.alloc(4 * 2 ** 20, revision);
      await store.commit({ conditions: [], operations: [put(`k${revision}`, value)] });
    }
    await store.commit({ conditions: [], operations: [put("k301", "")] });
    expect((await reading).said).to.deep.equal(["open", "read"]);
    expect(statSync(join(folder.path, "store/data.mdb")).size).to.be.above(GIBIBYTE);
    for (let revision = 2; revision <= 300; revision++)
      expect((await store.get(`k${revision}`))?.value[0]).to.equal(revision % 256);
    await store[Symbol.asyncDispose]();
  }).timeout(120_000);
});
