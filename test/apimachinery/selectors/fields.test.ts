import { ApiError } from "@virtual-workspaces/apimachinery";
import { everyField, parseFieldSelector } from "@virtual-workspaces/apimachinery/selectors";
import { expect } from "chai";
import fc from "fast-check";
import { computed } from "../../_support/cpu.ts";

describe("parseFieldSelector", () => {
  const table: readonly [string, Record<string, string>[], Record<string, string>[]][] = [
    ["", [{}, { a: "b" }], []],
    ["metadata.name=x", [{ "metadata.name": "x" }], [{}, { "metadata.name": "y" }]],
    ["metadata.name==x", [{ "metadata.name": "x" }], [{}, { "metadata.name": "y" }]],
    ["metadata.name!=x", [{}, { "metadata.name": "y" }], [{ "metadata.name": "x" }]],
    ["a=", [{}, { a: "" }], [{ a: "b" }]],
    ["a!=", [{ a: "b" }], [{}, { a: "" }]],
    ["a=b,c!=d", [{ a: "b" }], [{ a: "b", c: "d" }, {}]],
    [",a=b,,", [{ a: "b" }], [{}]],
    ["a=b\\,c\\=d\\\\", [{ a: "b,c=d\\" }], [{ a: "b" }]],
    ["constructor=", [{}], []],
    ["=", [{}, { a: "b" }], []],
  ];
  for (const [text, matching, others] of table) {
    it(`selects by ${JSON.stringify(text)}`, () => {
      const selector = parseFieldSelector(text);
      for (const fields of matching) expect(selector.matches(fields), JSON.stringify(fields)).to.equal(true);
      for (const fields of others) expect(selector.matches(fields), JSON.stringify(fields)).to.equal(false);
    });
  }

  const refused = {
    a: "invalid selector: 'a'; can't understand 'a'",
    "a=b,c": "invalid selector: 'a=b,c'; can't understand 'c'",
    "a=b=c": "invalid field selector: unescaped character in value: 61",
    "a=b\\x": "invalid field selector: invalid escape sequence: \\x",
    "a=b\\": "invalid field selector: invalid escape sequence: \\",
  };
  for (const [text, message] of Object.entries(refused)) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(() => parseFieldSelector(text))
        .to.throw(ApiError)
        .with.property("message", message);
      expect(() => parseFieldSelector(text))
        .to.throw(ApiError)
        .with.property("code", 400);
    });
  }

  it("reports its fields, and the values that they must have", () => {
    const selector = parseFieldSelector("spec.b=2,spec.a!=1,spec.b!=3");
    expect(selector.fields).to.deep.equal(["spec.a", "spec.b"]);
    expect(selector.exactMatch("spec.b")).to.equal("2");
    expect(selector.exactMatch("spec.a")).to.equal(undefined);
    expect(selector.requirements).to.deep.equal([
      { field: "spec.a", operator: "!=", value: "1" },
      { field: "spec.b", operator: "!=", value: "3" },
      { field: "spec.b", operator: "=", value: "2" },
    ]);
  });

  it("is empty if everything matches", () => {
    expect(parseFieldSelector("")).to.equal(everyField);
    expect(everyField.empty).to.equal(true);
    expect(parseFieldSelector("a=b").empty).to.equal(false);
  });
});

const field = fc.constantFrom("metadata.name", "spec.a", "b");
const operator = fc.constantFrom("=", "==", "!=");
const value = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom("\\", ",", "=", "a", "\n") }));
const term = fc.tuple(field, operator, value).map(([f, o, v]) => `${f}${o}${v.replace(/[\\,=]/g, "\\$&")}`);
const terms = fc.array(term, { maxLength: 4 });

describe("a field selector", () => {
  it("keeps an escaped value", () => {
    fc.assert(
      fc.property(field, value, (name, text) => {
        const selector = parseFieldSelector(`${name}=${text.replace(/[\\,=]/g, "\\$&")}`);
        expect(selector.exactMatch(name)).to.equal(text);
      }),
    );
  });

  it("matches the same after a round trip through its text, and has the same text again", () => {
    fc.assert(
      fc.property(terms, fc.dictionary(field, value), (parts, object) => {
        const selector = parseFieldSelector(parts.join(","));
        const again = parseFieldSelector(selector.toString());
        expect(again.toString()).to.equal(selector.toString());
        expect(again.matches(object)).to.equal(selector.matches(object));
      }),
    );
  });

  it("has a text that does not depend on order or repetition", () => {
    fc.assert(
      fc.property(terms, (parts) => {
        const text = parseFieldSelector(parts.join(",")).toString();
        expect(parseFieldSelector([...parts].reverse().join(",")).toString()).to.equal(text);
        expect(parseFieldSelector([...parts, ...parts].join(",")).toString()).to.equal(text);
      }),
    );
  });

  it("is parsed or rejected with a 400, for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."\\,=!a\n") })), (text) => {
        try {
          parseFieldSelector(text);
        } catch (error) {
          expect(error).to.be.instanceOf(ApiError).with.property("code", 400);
        }
      }),
      { numRuns: 2000 },
    );
  });

  for (const part of [",", "a=b,", "\\", "=", "a\\"]) {
    it(`parses a mebibyte of ${JSON.stringify(part)} quickly`, () => {
      const started = computed();
      const text = part.repeat(2 ** 20 / part.length);
      if (part === "," || part === "a=b,") parseFieldSelector(text);
      else expect(() => parseFieldSelector(text)).to.throw(ApiError);
      expect(computed() - started).to.be.below(2000);
    });
  }
});
