// Why: files that are run in turns must all have theirs, or some are never run where it counts.
import { expect } from "chai";
import { inTurn } from "../../tools/share.mjs";

describe("files that are run in turns", () => {
  const files = ["a", "b", "c", "d", "e"];

  it("are all run in as many turns as there are shares, each once", () => {
    for (const shares of [1, 2, 3, 7]) {
      const turns = Array.from({ length: shares }, (_, turn) =>
        inTurn(files, undefined, { SHARE: `${1000 + turn}/${shares}` }),
      );
      expect(turns.flat().sort(), `${shares}`).to.deep.equal(files);
    }
  });

  it("leave those that take no turns to every run", () => {
    const heavy = (file: string): boolean => file > "b";
    expect(inTurn(files, heavy, { SHARE: "0/2" })).to.deep.equal(["a", "b", "c", "e"]);
    expect(inTurn(files, heavy, { SHARE: "1/2" })).to.deep.equal(["a", "b", "d"]);
  });

  it("are all run where nobody asks for a share, and none where what is asked is none", () => {
    expect(inTurn(files, undefined, {})).to.deep.equal(files);
    for (const SHARE of ["x/2", "1/0", "1/-2", "0.5/2"])
      expect(() => inTurn(files, undefined, { SHARE })).to.throw("<turn>/<of>");
  });
});
