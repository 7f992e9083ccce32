// Patterns of schemas: as Go reads them, and in linear time.
import { expect } from "chai";
import { linearPattern } from "../../../packages/framework/src/cel/values/pattern.ts";
import { computed } from "../../_support/cpu.ts";

describe("linearPattern", () => {
  it("finds anywhere, unless anchored", () => {
    expect(linearPattern("b")("abc")).to.equal(true);
    expect(linearPattern("^b")("abc")).to.equal(false);
    expect(linearPattern("^\\p{L}+$")("né")).to.equal(true);
    expect(linearPattern("^.$")("😀")).to.equal(true);
    expect(linearPattern("a$")("a\n")).to.equal(false);
  });

  it("refuses what Go refuses: back references, looking ahead, repetition beyond 1000", () => {
    for (const source of ["(a)\\1", "a(?=b)", "a{1001}", "("])
      expect(() => linearPattern(source), source).to.throw(Error);
  });

  it("takes time linear in the text for a pattern that backtracking takes for ever", () => {
    const test = linearPattern("^(a+)+$");
    const before = computed();
    expect(test(`${"a".repeat(50_000)}!`)).to.equal(false);
    expect(test("a".repeat(50_000))).to.equal(true);
    expect(computed() - before).to.be.below(50);
  });

  it("is not matched by a text that would take too long", () => {
    const test = linearPattern("(a|b)*a(a|b){900}$");
    const before = computed();
    expect(test("ab".repeat(1_000_000))).to.equal(false);
    expect(computed() - before).to.be.below(50);
  });
});
