import { compareResourceVersions, isResourceVersion } from "@virtual-workspaces/apimachinery/requests";
import { expect } from "chai";
import fc from "fast-check";

const version = fc.bigInt({ min: 1n, max: 10n ** 30n });

describe("compareResourceVersions", () => {
  it("orders by number, also beyond 2^53", () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        const expected = a < b ? -1 : Number(a > b);
        expect(Math.sign(compareResourceVersions(`${a}`, `${b}`))).to.equal(expected);
      }),
    );
  });

  it("works as a sort function", () => {
    const sorted = ["9", "10", "99", "100", "9007199254740992", "9007199254740993", "10000000000000000000"];
    expect(sorted.toReversed().sort(compareResourceVersions)).to.deep.equal(sorted);
  });
});

describe("isResourceVersion", () => {
  it("accepts every positive number in its canonical form", () => {
    fc.assert(fc.property(version, (number) => isResourceVersion(`${number}`)));
  });

  for (const text of ["", "0", "01", "-1", "+1", "1.0", "1e3", " 1", "1\n", "a", "0x1", "１"]) {
    it(`rejects ${JSON.stringify(text)}`, () => expect(isResourceVersion(text)).to.equal(false));
  }
});
