import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { Random } from "../../_support/random.ts";
import { KilledStore } from "./killed.ts";

describe("a store on LMDB whose process is killed", () => {
  it("loses nothing in 10 rounds", async () => {
    using folder = tree({});
    const store = new KilledStore(folder.path, new Random(1));
    let acknowledged = 0;
    for (let round = 0; round < 10; round++) acknowledged += (await store.round()).acknowledged;
    expect(acknowledged, "it was busy").to.be.above(500);
  }).timeout(60_000);
});
