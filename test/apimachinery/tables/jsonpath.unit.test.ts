import { compileJsonPath } from "@virtual-workspaces/apimachinery/tables";
import { expect } from "chai";
import fc from "fast-check";
import { compileJsonPathFirst } from "../../../packages/apimachinery/src/tables/jsonpath.ts";

const object = {
  metadata: { name: "x", labels: { "app.kubernetes.io/name": "web", "it's": "odd" } },
  spec: { text: "hi", none: null, zero: 0, no: false, list: ["a", "b", "c"], nested: [[1, 2], [3]] },
  status: {
    conditions: [
      { type: "Ready", status: "True", weight: 1, on: true },
      { type: "Synced", status: "False", weight: 2.5, on: false },
      { type: 7, status: "Odd" },
      { status: "Bare" },
      null,
    ],
  },
};

const table: readonly [string, unknown[]][] = [
  [".spec.text", ["hi"]],
  ["$.spec.text", ["hi"]],
  [".spec", [object.spec]],
  [".spec.none", [null]],
  [".spec.zero", [0]],
  [".spec.no", [false]],
  [".spec.gone", []],
  [".spec.none.deeper", []],
  [".spec.text.length", []],
  [".spec.list.length", []],
  [".gone.deeper.still", []],
  [".metadata.labels.app\\.kubernetes\\.io/name", ["web"]],
  [".metadata.labels['app.kubernetes.io/name']", ["web"]],
  [".metadata.labels['app\\.kubernetes\\.io/name']", ["web"]],
  ['.metadata.labels["app.kubernetes.io/name"]', ["web"]],
  [".metadata.labels['it\\'s']", ["odd"]],
  ["['spec']['text']", ["hi"]],
  [".spec.list[0]", ["a"]],
  [".spec.list[-1]", ["c"]],
  [".spec.list[3]", []],
  [".spec.list[-4]", []],
  [".spec.list[*]", ["a", "b", "c"]],
  [".spec.list.*", ["a", "b", "c"]],
  [".spec.text[0]", []],
  [".spec.nested[*][*]", [1, 2, 3]],
  [".spec.nested[*][0]", [1, 3]],
  [".metadata.labels.*", ["web", "odd"]],
  ["[*].name", ["x"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type=='Ready')].status", ["True"]],
  ['.status.conditions[?( @.type == "Ready" )].status', ["True"]],
  ['.status.conditions[?(@.type!="Ready")].status', ["False"]],
  ['.status.conditions[?(@.type==")]")].status', []],
  [".status.conditions[?(@.type==7)].status", ["Odd"]],
  [".status.conditions[?(@.weight==2.5)].type", ["Synced"]],
  [".status.conditions[?(@.weight!=-1)].type", ["Ready", "Synced"]],
  [".status.conditions[?(@.on==true)].type", ["Ready"]],
  [".status.conditions[?(@.on!=true)].type", ["Synced"]],
  [".status.conditions[?(@.type)].status", ["True", "False", "Odd"]],
  [".status.conditions[?(@['type']=='Ready')].status", ["True"]],
  ['.spec.list[?(@=="b")]', ["b"]],
  [".spec.nested[?(@[0]==3)][0]", [3]],
  [".spec[?(@.a==1)]", []],
];

describe("compileJsonPath", () => {
  for (const [path, expected] of table) {
    it(`follows ${path}`, () => {
      expect(compileJsonPath(path)(object)).to.deep.equal(expected);
      expect(compileJsonPathFirst(path)(object)).to.deep.equal(expected[0]);
    });
  }

  const refused = {
    "": "expected '.' or '[' and a field at position 0",
    $: "expected '.' or '[' and a field at position 1",
    spec: "expected '.' or '[' at position 0",
    ".": "expected a field name at position 1",
    "..spec": "expected a field name at position 1",
    ".spec.": "expected a field name at position 6",
    ".a b": "expected '.' or '[' at position 2",
    ".a,b": "expected '.' or '[' at position 2",
    ".a\\": "expected '.' or '[' at position 2",
    ".a[": "expected an index, '*', a quoted key or '?(' at position 3",
    ".a[]": "expected an index, '*', a quoted key or '?(' at position 3",
    ".a[1": "expected an index, '*', a quoted key or '?(' at position 3",
    ".a[1:2]": "expected an index, '*', a quoted key or '?(' at position 3",
    ".a['b]": "expected an index, '*', a quoted key or '?(' at position 3",
    ".a['b'": "expected ']' at position 6",
    ".a[?(": "expected '@' at position 5",
    ".a[?(@.b": "expected '==', '!=' or ')' at position 8",
    ".a[?(@.b<1)]": "expected '==', '!=' or ')' at position 8",
    ".a[?(@.b==)]": "expected a quoted text, a number, true or false at position 10",
    ".a[?(@.b==1]": "expected ')' at position 11",
    ".a[?(@.b==1)": "expected ']' at position 12",
    ".a[?(@[?(@)])]": "expected an index, '*' or a quoted key at position 7",
  };
  for (const [path, problem] of Object.entries(refused)) {
    it(`rejects ${JSON.stringify(path)}`, () => {
      for (const compile of [compileJsonPath, compileJsonPathFirst]) {
        expect(() => compile(path))
          .to.throw(Error)
          .with.property("message", `JSONPath ${JSON.stringify(path)}: ${problem}`);
      }
    });
  }

  it("follows own properties only", () => {
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      expect(compileJsonPath(`.${name}`)({})).to.deep.equal([]);
      expect(compileJsonPath(`['${name}'].name`)({})).to.deep.equal([]);
      expect(compileJsonPath(`.${name}`)(JSON.parse(`{"${name}": 1}`))).to.deep.equal([1]);
    }
  });

  for (const value of [undefined, null, 1, "text", true, []]) {
    it(`finds nothing in ${JSON.stringify(value)}`, () => {
      expect(compileJsonPath(".spec")(value)).to.deep.equal([]);
      expect(compileJsonPath("[0]")(value)).to.deep.equal([]);
      expect(compileJsonPathFirst(".spec")(value)).to.equal(undefined);
    });
  }

  it("finds any quoted key, whatever it contains", () => {
    const name = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."'\\.]a\n") }));
    fc.assert(
      fc.property(name, fc.jsonValue(), (key, value) => {
        const path = `['${key.replace(/['\\]/g, "\\$&")}']`;
        expect(compileJsonPath(path)({ [key]: value })).to.deep.equal([value]);
      }),
    );
  });

  it("compiles any text or rejects it, and never throws on any object", () => {
    const token = fc.constantFrom(
      ".a",
      ".b",
      "[0]",
      "[-1]",
      "[*]",
      "['a']",
      "[?(@.a==1)]",
      "[?(@.b)]",
      ".*",
      "[",
      "?",
      ")",
    );
    const path = fc.oneof(
      fc.array(token, { minLength: 1 }).map((tokens) => tokens.join("")),
      fc.string(),
    );
    fc.assert(
      fc.property(path, fc.jsonValue(), (text, value) => {
        let all: (object: unknown) => unknown[];
        try {
          all = compileJsonPath(text);
        } catch (error) {
          expect(error).to.be.instanceOf(Error).with.property("message").that.contains("at position");
          return;
        }
        expect(compileJsonPathFirst(text)(value)).to.deep.equal(all(value)[0]);
      }),
      { numRuns: 2000 },
    );
  });

  for (const part of ["[*]", ".a", "[0]", "[?(@.a)]"]) {
    it(`compiles a path of 10,000 times ${part}`, () => {
      const path = part.repeat(10_000);
      expect(compileJsonPath(path)({})).to.deep.equal([]);
      expect(compileJsonPathFirst(path)([[]])).to.equal(undefined);
    });
  }
});
