// Patterns of schemas: Go's semantics, in linear time.
import { expect } from "chai";
import { linearPattern } from "../../../packages/framework/src/cel/values/pattern.ts";
import { computed } from "../../_support/cpu.ts";

describe("linearPattern", () => {
  it("matches anywhere, unless anchored", () => {
    expect(linearPattern("b")("abc")).to.equal(true);
    expect(linearPattern("^b")("abc")).to.equal(false);
    expect(linearPattern("^\\p{L}+$")("né")).to.equal(true);
    expect(linearPattern("^.$")("😀")).to.equal(true);
    expect(linearPattern("a$")("a\n")).to.equal(false);
  });

  it("rejects what Go rejects: back references, lookahead, repetition beyond 1000", () => {
    for (const source of ["(a)\\1", "a(?=b)", "a{1001}", "("])
      expect(() => linearPattern(source), source).to.throw(Error);
  });

  it("takes linear time for a pattern with exponential backtracking", () => {
    const test = linearPattern("^(a+)+$");
    const before = computed();
    expect(test(`${"a".repeat(50_000)}!`)).to.equal(false);
    expect(test("a".repeat(50_000))).to.equal(true);
    expect(computed() - before).to.be.below(50);
  });

  it("does not match a text that would take too long", () => {
    const test = linearPattern("(a|b)*a(a|b){900}$");
    const before = computed();
    expect(test("ab".repeat(1_000_000))).to.equal(false);
    expect(computed() - before).to.be.below(50);
  });
});
