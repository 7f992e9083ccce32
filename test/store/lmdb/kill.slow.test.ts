import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { killRounds } from "../../_support/kill-rounds.ts";
import { Random } from "../../_support/random.ts";
import { KilledStore } from "./killed.ts";

const ROUNDS = killRounds(200);

describe("a store on LMDB whose process is killed repeatedly", () => {
  it(`loses nothing in ${ROUNDS} rounds`, async () => {
    using folder = tree({});
    const store = new KilledStore(folder.path, new Random(2));
    let acknowledged = 0;
    for (let round = 0; round < ROUNDS; round++) acknowledged += (await store.round()).acknowledged;
    expect(acknowledged, "it was busy").to.be.above(ROUNDS * 50);
  }).timeout(600_000);
});
