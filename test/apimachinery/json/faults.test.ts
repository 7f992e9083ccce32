// Faults of texts that are not JSON, in Kubernetes' words (recorded), with their position.
import { parseJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { expect } from "chai";
import fc from "fast-check";

const END = "unexpected end of JSON input";

const faults: Readonly<Record<string, string>> = {
  "": END,
  "{": END,
  '{"a"': END,
  '{"a":': END,
  '{"a":1': END,
  "[1,": END,
  '"a': END,
  "{a:1}": "invalid character 'a' looking for beginning of object key string at line 1 column 2",
  '{"a":1,}': "invalid character '}' looking for beginning of object key string at line 1 column 8",
  "[1,]": "invalid character ']' looking for beginning of value at line 1 column 4",
  '{"a" 1}': "invalid character '1' after object key at line 1 column 6",
  '{"a":1 "b":2}': "invalid character '\"' after object key:value pair at line 1 column 8",
  "[1 2]": "invalid character '2' after array element at line 1 column 4",
  "{} x": "invalid character 'x' after top-level value at line 1 column 4",
  "[01]": "invalid character '1' after array element at line 1 column 3",
  "[-]": "invalid character ']' in numeric literal at line 1 column 3",
  "[1.x]": "invalid character 'x' after decimal point in numeric literal at line 1 column 4",
  "[1e+]": "invalid character ']' in exponent of numeric literal at line 1 column 5",
  "[.5]": "invalid character '.' looking for beginning of value at line 1 column 2",
  "[trux]": "invalid character 'x' in literal true (expecting 'e') at line 1 column 5",
  "[nul]": "invalid character ']' in literal null (expecting 'l') at line 1 column 5",
  "[falsy]": "invalid character 'y' in literal false (expecting 'e') at line 1 column 6",
  '"\\x"': "invalid character 'x' in string escape code at line 1 column 3",
  '["\\u00g0"]': "invalid character 'g' in \\u hexadecimal character escape at line 1 column 7",
  '["a\nb"]': "invalid character '\\n' in string literal at line 1 column 4",
  "['a']": "invalid character '\\'' looking for beginning of value at line 1 column 2",
  '{"a":\n  {"b":\n x}}': "invalid character 'x' looking for beginning of value at line 3 column 2",
  '{"a":1e400}': "json: cannot unmarshal number 1e400 into Go value of type float64",
  '{"\u{1f600}": 😀}': "invalid character '😀' looking for beginning of value at line 1 column 8",
};

describe("a text that is not JSON", () => {
  for (const [text, fault] of Object.entries(faults)) {
    it(`fails with its fault: ${JSON.stringify(text)}: ${fault}`, () =>
      expect(() => parseJson(text)).to.throw(SyntaxError, fault));
  }

  it("is exactly one that JSON.parse rejects, with or without long numbers", () => {
    const text = fc.oneof(
      fc.json(),
      fc.string({ unit: fc.constantFrom(...'{}[],:"\\ \n-+.0123456789eEtrufalsn') }),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom("", ..."{}[],:\"'\\ \n-+.0eEtfn")).map(([json, place, other]) => {
        const at = place % (json.length + 1);
        return json.slice(0, at) + other + json.slice(at + 1);
      }),
    );
    fc.assert(
      fc.property(text, (json) => {
        for (const variant of [json, `[1234567890123456789,${json}]`, `[${json},1e-300]`]) {
          expect(read(() => rounded(parseJson(variant).value))).to.deep.equal(
            read(() => rounded(JSON.parse(variant, finite))),
          );
        }
      }),
      { numRuns: 5000 },
    );
  });
});

/** Converts 64-bit integers to the doubles of `JSON.parse`. */
function rounded(value: unknown): unknown {
  return JSON.parse(stringifyJson(value));
}

function finite(_name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new SyntaxError("out of range");
  return value;
}

function read(value: () => unknown): unknown {
  try {
    return { value: value() };
  } catch (error) {
    return error instanceof SyntaxError ? "no JSON" : error;
  }
}

describe("limits of JSON", () => {
  it("apply to names, counted once, and to objects and arrays", () => {
    const text = '{"a":[{"a":1},{"\\u0061":2,"b":3}]}';
    expect(parseJson(text, { names: 2, containers: 4 }).value).to.deep.equal({ a: [{ a: 1 }, { a: 2, b: 3 }] });
    expect(() => parseJson(text, { names: 1 })).to.throw(RangeError, "members of more than 1 different names");
    expect(() => parseJson(text, { containers: 3 })).to.throw(RangeError, "more than 3 objects and arrays");
  });
});
