// Cache of header names, which clients can invent.
import { expect } from "chai";
import { KnownNames } from "../../packages/framework/src/util/known-names.ts";

describe("the cache of header names", () => {
  it("computes each name once, skips long names, and holds a thousand at most", () => {
    const looked: string[] = [];
    const names = new KnownNames((name) => {
      looked.push(name);
      return name.startsWith("x");
    });
    const long = "x".repeat(65);
    for (const name of ["x-a", "b", long, "x-a", "b", long]) expect(names.has(name)).to.equal(name !== "b");
    expect(looked).to.deep.equal(["x-a", "b", long, long]);
    looked.length = 0;
    for (let at = 0; at < 1000; at++) names.has(`x-${at}`);
    expect(names.has("b")).to.equal(false);
    expect(looked.at(-1), "forgotten with all others").to.equal("b");
  });
});
