// Why: files that are run in turns must all have theirs, or some are never run where it counts.
import { expect } from "chai";
import { inTurn } from "../../tools/share.mjs";

describe("files that are run in turns", () => {
  const files = ["a", "b", "c", "d", "e"];

  it("are all run in as many turns as there are shares, each once", () => {
    for (const shares of [1, 2, 3, 7]) {
      const turns = Array.from({ length: shares }, (_, turn) => inTurn(files, { SHARE: `${1000 + turn}/${shares}` }));
      expect(turns.flat().sort(), `${shares}`).to.deep.equal(files);
    }
  });

  it("are all run without a share, and an invalid share is rejected", () => {
    expect(inTurn(files, {})).to.deep.equal(files);
    for (const SHARE of ["x/2", "1/0", "1/-2", "0.5/2"]) expect(() => inTurn(files, { SHARE })).to.throw("<turn>/<of>");
  });
});
