import { expect } from "chai";
import fc from "fast-check";
import { compareSortable, sortable } from "../../../packages/store/src/engine/key-order.ts";

/** Well-formed text, mostly near the code points where the orders differ. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "/", "\u0000", "\u007F", "\u0080", "\u07FF", "\u0800"),
    fc.constantFrom("\uD7FF", "\uE000", "\uFFFD", "\uFFFF", "\u{10000}", "\u{103FF}", "\u{10400}", "\u{10FFFF}"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 8,
});

describe("the order of keys", () => {
  it("is that of their UTF-8 bytes", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(compareSortable(sortable(a), sortable(b))).to.equal(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      { numRuns: 20_000 },
    );
  });

  it("needs no conversion of plain keys", () => {
    for (const key of ["", "/registry/widgets/a", "é", "\uD7FF"]) expect(sortable(key)).to.equal(key);
  });
});
