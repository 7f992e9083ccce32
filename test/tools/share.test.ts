// Why: with shares, each file must run in some share, or it never runs in CI.
import { expect } from "chai";
import { inTurn } from "../../tools/share.mjs";

describe("files that run in shares", () => {
  const files = ["a", "b", "c", "d", "e"];

  it("each run exactly once in all shares together", () => {
    for (const shares of [1, 2, 3, 7]) {
      const turns = Array.from({ length: shares }, (_, turn) => inTurn(files, { SHARE: `${1000 + turn}/${shares}` }));
      expect(turns.flat().sort(), `${shares}`).to.deep.equal(files);
    }
  });

  it("all run without a share, and an invalid share is rejected", () => {
    expect(inTurn(files, {})).to.deep.equal(files);
    for (const SHARE of ["x/2", "1/0", "1/-2", "0.5/2"]) expect(() => inTurn(files, { SHARE })).to.throw("<turn>/<of>");
  });
});
