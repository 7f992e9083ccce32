// Why: users apply the printed YAML unread, so every parser must read the original objects from it.
import { expect } from "chai";
import fc from "fast-check";
import { parse } from "yaml";
import { yamlOf } from "../../packages/cli/src/manifests/command.ts";

describe("YAML", () => {
  it("reads as the original value in YAML 1.1 and 1.2", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = yamlOf(value);
        // -0 is 0 in JSON.
        const same = JSON.parse(JSON.stringify(value));
        expect(parse(text, { version: "1.2" })).to.deep.equal(same);
        expect(parse(text, { version: "1.1", schema: "yaml-1.1" })).to.deep.equal(same);
      }),
      { numRuns: 2_000 },
    );
  });

  it("keeps strings as strings", () => {
    const texts = [
      "",
      "yes",
      "No",
      "~",
      "null",
      "1e3",
      "0x1f",
      "12:30",
      "- a",
      "a: b",
      "a #b",
      "'",
      '"',
      "\n",
      "a\u2028b",
      "é",
      "1.0",
      ".5",
      "=",
      "<<",
      "2026-01-01",
      "Infinity",
      ".inf",
      "NaN",
      ".nan",
      "E0",
      "e-5",
    ];
    for (const version of ["1.1", "1.2"] as const)
      expect(parse(yamlOf({ texts, [texts[1] ?? ""]: 1, "": 2 }), { version })).to.deep.equal({ texts, yes: 1, "": 2 });
  });

  it("is formatted as kubectl formats it", () => {
    expect(yamlOf({ kind: "A", spec: { list: [{ a: 1, b: [] }, ["x", {}]], no: {} } })).to.equal(
      'kind: A\nspec:\n  list:\n  - a: 1\n    b: []\n  - - x\n    - {}\n  "no": {}\n',
    );
  });
});
