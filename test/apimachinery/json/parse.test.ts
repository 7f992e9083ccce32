import { compareUtf8, parseJson, parseOwnJson, setMember, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { expect } from "chai";
import fc from "fast-check";

describe("JSON", () => {
  it("keeps 64-bit integers exact", () => {
    const text =
      '{"a":9007199254740993,"b":[-9223372036854775808,9223372036854775807],"c":1.5,"d":10000000000000000000000}';
    const { value } = parseJson(text);
    expect(value).to.deep.equal({ a: 9007199254740993n, b: [-(2n ** 63n), 2n ** 63n - 1n], c: 1.5, d: 1e22 });
    expect(stringifyJson(value)).to.equal(text.replace("10000000000000000000000", "1e+22"));
    expect(parseOwnJson(stringifyJson(value))).to.deep.equal(value);
  });

  it("reports duplicate members by their paths", () => {
    const { value, duplicates } = parseJson(
      '{"a":{"b":[{"c":1},{"c":1,"\\u0063":2}]},"a\\"":1,"x,":{"y":"{"},"a\\"":2}',
    );
    expect(duplicates).to.deep.equal(["a.b[1].c", 'a"']);
    expect(value).to.deep.equal({ a: { b: [{ c: 1 }, { c: 2 }] }, 'a"': 2, "x,": { y: "{" } });
  });

  it("reports each such path once, a hundred at most", () => {
    expect(parseJson(`{${'"a":1,'.repeat(1000)}"b":1,"b":2}`).duplicates).to.deep.equal(["a", "b"]);
    const pairs = Array.from({ length: 500 }, (_, at) => `"a${at}":1,"a${at}":2`).join();
    expect(parseJson(`{${pairs}}`).duplicates)
      .to.have.length(100)
      .and.include("a99");
  });

  it("finds the duplicates among many names", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(60), { maxLength: 30 }), { maxLength: 40 }), (objects) => {
        const texts = objects.map((names) => `{${names.map((name) => `"${name}":[{"x":1}]`).join()}}`);
        const expected = objects.flatMap((names, at) => [
          ...new Set(names.filter((name, place) => names.indexOf(name) < place).map((name) => `[${at}].${name}`)),
        ]);
        expect(parseJson(`[${texts.join()}]`).duplicates).to.deep.equal(expected.slice(0, 100));
      }),
    );
  });

  it("treats __proto__ as a member like any other, duplicate or not", () => {
    const { value, duplicates } = parseJson('{"__proto__":{"polluted":true},"__proto__":{"polluted":true}}');
    expect(duplicates).to.deep.equal(["__proto__"]);
    expect(stringifyJson(value)).to.equal('{"__proto__":{"polluted":true}}');
    expect((value as { polluted?: boolean }).polluted).to.equal(undefined);
    const copy = {};
    setMember(copy, "__proto__", 1);
    expect(Object.keys(copy)).to.deep.equal(["__proto__"]);
  });

  for (const [what, text] of [
    ["a number beyond doubles", "1e400"],
    ["an integer beyond doubles", `[${"9".repeat(400)}]`],
    ["1,001 levels", `${"[".repeat(1001)}${"]".repeat(1001)}`],
    ["a million levels", "[".repeat(1_000_000)],
    ["invalid JSON", "{a:1}"],
    ["an empty text", ""],
  ] as const) {
    it(`rejects ${what}`, () => expect(() => parseJson(text)).to.throw(SyntaxError));
  }

  it("parses every output of JSON.stringify, without duplicates", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const text = JSON.stringify(json);
        const { value, duplicates } = parseJson(text);
        // Compared as text: integers from 2^53 on are exact in one and doubles in the other.
        expect([stringifyJson(value), duplicates]).to.deep.equal([text, []]);
      }),
    );
  });

  it("orders texts by their bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).to.equal(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
    expect(compareUtf8("\u{10000}", "\uffff")).to.be.greaterThan(0);
  });
});
