import { FieldSet, formatFieldsV1, parseFieldsV1 } from "@virtual-workspaces/apimachinery/apply";
import { expect } from "chai";
import fc from "fast-check";

const NAMES = ["a", "b", "c", "name", "__proto__", "constructor", "é", "\uffee", "\u{1F600}"];
const scalar = fc.oneof(fc.constantFrom("x", "y", "<&>", 'q"\n'), fc.integer({ min: -3, max: 3 }), fc.boolean());
const element = fc.oneof(
  fc.constantFrom(...NAMES).map((name) => `f:${name}`),
  scalar.map((value) => `v:${JSON.stringify(value)}`),
  fc.tuple(scalar, scalar).map(([a, b]) => `k:${JSON.stringify({ port: a, name: b })}`),
  fc.nat({ max: 3 }).map((at) => `i:${at}`),
);
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 });

/** Builds a set from paths in any order, as a client might write it. */
function setOf(all: readonly (readonly string[])[]): FieldSet {
  return all
    .map(wireOf)
    .map(parseFieldsV1)
    .reduce((a, b) => a.union(b), FieldSet.empty);
}

function wireOf(path: readonly string[]): unknown {
  return path.reduceRight<unknown>(
    (below, key) => Object.defineProperty({}, key, { value: below, enumerable: true }),
    {},
  );
}

const listed = (set: FieldSet): string[] => [...set.paths()].sort();

describe("FieldSet", () => {
  it("reads and writes FieldsV1", () => {
    const wire = {
      "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
      "f:spec": {
        "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
        "f:tags": { 'v:"x"': {} },
      },
    };
    const set = parseFieldsV1(wire);
    expect(formatFieldsV1(set)).to.deep.equal(wire);
    expect([...set.paths()]).to.deep.equal([
      ".metadata.labels",
      ".metadata.labels.app",
      '.spec.ports[port=80,protocol="TCP"]',
      '.spec.ports[port=80,protocol="TCP"].port',
      '.spec.tags[="x"]',
    ]);
  });

  it("writes the many forms of other writers in one form, in Go's order", () => {
    const set = parseFieldsV1({
      "i:007": {},
      "v: 10": {},
      "v:9": {},
      'v:"a"': {},
      "v:true": {},
      "v:null": {},
      'k:{"name": "\\u0062", "id":1}': {},
      'k:{"id":1,"name":"a"}': {},
      "f:\u{1F600}": {},
      "f:\uffee": {},
      "f:b": null,
      "x:later": { "f:a": {} },
    });
    expect(Object.keys(formatFieldsV1(set))).to.deep.equal([
      "f:b",
      "f:\uffee",
      "f:\u{1F600}",
      'k:{"id":1,"name":"a"}',
      'k:{"id":1,"name":"b"}',
      "v:9",
      "v:10",
      'v:"a"',
      "v:true",
      "v:null",
      "i:7",
    ]);
    // In json-iterator's form, which differs from encoding/json's for these texts.
    const unlike = { 'v:"\\b\\f \\\\b e-7"': {}, "v:1e-7": {}, 'k:{"a":-2.5e-8}': {}, "v:1e-10": {} };
    expect(Object.keys(formatFieldsV1(parseFieldsV1(unlike)))).to.deep.equal([
      'k:{"a":-2.5e-08}',
      "v:1e-10",
      "v:1e-07",
      'v:"\\u0008\\u000c \\\\b e-7"',
    ]);
    expect(Object.keys(formatFieldsV1(parseFieldsV1({ 'v:"<&>\u2028"': {} })))).to.deep.equal([
      'v:"\\u003c\\u0026\\u003e\\u2028"',
    ]);
  });

  it("keeps 64-bit integers exact", () => {
    const wire = { 'k:{"id":9007199254740993}': {} };
    expect(formatFieldsV1(parseFieldsV1(wire))).to.deep.equal(wire);
  });

  for (const [what, wire] of [
    ["a text", "x"],
    ["a list", []],
    ["an element without a kind", { spec: {} }],
    ["an empty element", { "": {} }],
    ["an invalid index", { "i:x": {} }],
    ["a value that is not JSON", { "v:x": {} }],
    ["keys that are not an object", { "k:1": {} }],
    ["a child that is not an object", { "f:spec": 1 }],
  ] as const) {
    it(`rejects ${what}`, () => {
      expect(() => parseFieldsV1(wire)).to.throw(SyntaxError);
    });
  }

  it("contains only the given fields, not those above or below them", () => {
    const spec = setOf([["f:spec"]]);
    const text = setOf([["f:spec", "f:text"]]);
    expect(listed(spec.difference(text))).to.deep.equal([".spec"]);
    expect(listed(text.difference(spec))).to.deep.equal([".spec.text"]);
    expect(text.without(spec).isEmpty).to.equal(true);
    expect(spec.intersection(text).isEmpty).to.equal(true);
    expect(listed(spec.union(text).leaves())).to.deep.equal([".spec.text"]);
  });

  it("has union, difference and intersection", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [setOf(left), setOf(right)];
        const [inA, inB] = [new Set(listed(a)), new Set(listed(b))];
        expect(listed(a.union(b))).to.deep.equal([...inA.union(inB)].sort());
        expect(listed(a.difference(b))).to.deep.equal([...inA.difference(inB)].sort());
        expect(listed(a.intersection(b))).to.deep.equal([...inA.intersection(inB)].sort());
        expect(a.isSubsetOf(b)).to.equal(inA.isSubsetOf(inB));
        expect(a.equals(b)).to.equal(inA.size === inB.size && inA.isSubsetOf(inB));
        expect(listed(a.without(b))).to.deep.equal(
          [...inA].filter((path) => ![...inB].some((above) => isBelow(path, above))).sort(),
        );
      }),
    );
  });

  it("shares unchanged parts", () => {
    fc.assert(
      fc.property(paths, (all) => {
        const set = setOf(all);
        expect(set.union(set.leaves())).to.equal(set);
        expect(set.union(setOf(all))).to.equal(set);
        expect(set.intersection(setOf(all))).to.equal(set);
        expect(set.difference(FieldSet.empty)).to.equal(set);
        expect(set.difference(setOf(all)).isEmpty).to.equal(true);
      }),
    );
  });

  it("round-trips", () => {
    fc.assert(
      fc.property(paths, (all) => {
        const set = setOf(all);
        const wire = formatFieldsV1(set);
        expect(parseFieldsV1(wire).equals(set)).to.equal(true);
        expect(Object.keys(formatFieldsV1(parseFieldsV1(wire)))).to.deep.equal(Object.keys(wire));
        expect(parseFieldsV1(JSON.parse(JSON.stringify(wire))).equals(set)).to.equal(true);
      }),
    );
  });
});

/** Paths are plain texts here: `.a` is above `.a.b` and `.a[0]`, not above `.ab`. */
function isBelow(path: string, above: string): boolean {
  return path === above || (path.startsWith(above) && [".", "["].includes(path.charAt(above.length)));
}
