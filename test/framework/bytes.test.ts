// Objects and lists as bytes: split and validated without parsing, with the same result as a parser.
import { EncodedBytes, ListSplitter } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import fc from "fast-check";
import { Note } from "../_support/note.ts";

const context = { definition: Note, scope: { cluster: "root" } };

/** Returns the result of a splitter for a text that arrives in chunks. */
function split(text: string, sizes: readonly number[]): { items: unknown[]; around: unknown; joined: string } {
  const items: unknown[] = [];
  let around = "";
  let joined = "";
  const splitter = new ListSplitter({
    around: (bytes) => {
      around += bytes.toString("latin1");
      joined += bytes.toString("latin1");
    },
    between: (bytes) => {
      joined += bytes.toString("latin1");
    },
    item: (bytes) => {
      items.push(JSON.parse(bytes.toString("utf8")));
      joined += bytes.toString("latin1");
    },
  });
  const bytes = Buffer.from(text);
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    splitter.push(bytes.subarray(at, at + size));
    at += size;
  }
  splitter.end();
  return {
    items,
    around: JSON.parse(Buffer.from(around, "latin1").toString()),
    joined: Buffer.from(joined, "latin1").toString(),
  };
}

const anyName = fc.constantFrom("metadata", "kind", "items ", "\\items", 'it"ems', "x", "[", "{");
const anyItem = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
const anyMembers = fc.dictionary(anyName, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const anyList = fc.record({
  before: anyMembers,
  items: fc.array(anyItem, { maxLength: 5 }),
  behind: anyMembers,
  indent: fc.constantFrom(undefined, 1),
});
const anySizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

describe("a list split into items", () => {
  it("has the items that a parser finds, wherever they are and however they arrive", () => {
    fc.assert(
      fc.property(anyList, anySizes, ({ before, items, behind, indent }, sizes) => {
        const list = { ...before, items, ...behind };
        const text = JSON.stringify(list, undefined, indent);
        const cut = split(text, sizes);
        expect(cut.items).to.deep.equal(JSON.parse(JSON.stringify(items)));
        expect(cut.around).to.deep.equal(JSON.parse(JSON.stringify({ ...list, items: [] })));
        expect(cut.joined).to.equal(text);
      }),
    );
  });

  it("has its items however their name is escaped, and wherever a chunk ends", () => {
    for (const name of ["items", "\\u0069tems", "\\u0069\\u0074\\u0065\\u006d\\u0073", "item\\u0073"]) {
      const text = `{"a":"\\u0069tems","b":"x\\"y","${name}":[{"c":1}],"d":"\\\\"}`;
      for (let size = 1; size < text.length; size++) expect(split(text, [size]).items).to.deep.equal([{ c: 1 }]);
    }
  });

  it("has items with long strings, with escapes anywhere in them, and wherever a chunk ends", () => {
    const plain = "x".repeat(130);
    const texts = [
      plain,
      `${plain}"${plain}\\`,
      `"]}\\"${plain}{[`,
      `${plain}\\\\"`,
      '\\"'.repeat(70),
      `${"\n".repeat(90)}"`,
    ];
    const items = texts.map((text) => ({ [text]: [text, { text }], short: "" }));
    const text = JSON.stringify({ items, metadata: { continue: plain } });
    for (let size = 1; size < 500; size += size < 60 ? 1 : 37) expect(split(text, [size]).items).to.deep.equal(items);
    expect(split(text, [text.length]).items).to.deep.equal(items);
  });

  for (const [what, text] of Object.entries({
    "ends early": '{"items":[{"a":1}',
    "is an array": '[{"a":1}]',
    "has items that are not objects": '{"items":[1]}',
    "has items twice": '{"items":[],"items":[]}',
    "continues after its end": '{"items":[]}{}',
    "is empty": "",
  })) {
    it(`is rejected when it ${what}`, () => {
      expect(() => split(text, [3])).to.throw(SyntaxError);
    });
  }

  it("is rejected when an item exceeds the limit", () => {
    const splitter = new ListSplitter({ around: () => undefined, item: () => undefined }, { item: 100 });
    expect(() => splitter.push(Buffer.from(`{"items":[{"a":"${"x".repeat(200)}"`))).to.throw(RangeError);
  });
});

describe("an object as bytes", () => {
  const note = {
    kind: "Note",
    apiVersion: "test.dev/v1",
    metadata: { name: "a", uid: "u", resourceVersion: "7", labels: { l: "v" } },
    spec: { text: 'quotes " and \\ and ü', deep: [[{ n: -1.5e3 }], null, true] },
  };

  it("has the fields that routing and selectors need, whatever the encoding", () => {
    for (const text of [
      JSON.stringify(note),
      JSON.stringify(note, undefined, 2),
      ` ${JSON.stringify(Object.fromEntries(Object.entries(note).reverse()))}\n`,
    ]) {
      const { key, uid, resourceVersion, labels, fields } = EncodedBytes.checked(Buffer.from(text), context);
      expect({ key, uid, resourceVersion, labels, fields }).to.deep.equal({
        key: { cluster: "root", namespace: "", name: "a" },
        uid: "u",
        resourceVersion: "7",
        labels: { l: "v" },
        fields: { "metadata.name": "a" },
      });
    }
  });

  it("is accepted exactly when a parser accepts it", () => {
    const text = JSON.stringify(note);
    const takes = (read: () => unknown): boolean => {
      try {
        read();
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom(...'{}[]",:\\0-a e1.\n'),
        fc.constantFrom(0, 1, 2),
        (at, mark, gone) => {
          const changed = text.slice(0, at) + mark + text.slice(at + gone);
          const parsed = takes(() => JSON.parse(changed));
          const skimmed = takes(() => new EncodedBytes(Buffer.from(changed), context).uid);
          // Escapes within a string are not validated.
          if (parsed) expect(skimmed, changed).to.equal(true);
          else if (!/\\[^"\\/bfnrt]/.test(changed)) expect(skimmed, changed).to.equal(false);
        },
      ),
      { numRuns: 2000 },
    );
  });

  for (const metadata of [{ name: 1 }, { name: null }, { resourceVersion: 7 }, { uid: {} }, { labels: { l: 1 } }]) {
    it(`is rejected with ${JSON.stringify(metadata)}: names, versions and labels are strings`, () => {
      const text = JSON.stringify({ ...note, metadata: { ...note.metadata, ...metadata } });
      expect(() => EncodedBytes.checked(Buffer.from(text), context)).to.throw("must be strings");
    });
  }

  it("of another kind is rejected; a list item without a kind gets the list's", () => {
    const { kind: _kind, apiVersion: _version, ...bare } = note;
    expect(() => EncodedBytes.checked(Buffer.from(JSON.stringify({ ...note, kind: "Other" })), context)).to.throw(
      "Other",
    );
    expect(JSON.parse(EncodedBytes.item(Buffer.from(JSON.stringify(bare)), context).bytes.toString())).to.deep.equal(
      note,
    );
  });
});
