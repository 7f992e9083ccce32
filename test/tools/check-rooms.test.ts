import { join } from "node:path";
import { expect } from "chai";
import { checkRooms } from "../../tools/check-rooms.mjs";
import { cyclesOf } from "../../tools/import-graph.mjs";
import { tree } from "../_setup/tree.ts";

const long = "// more\n".repeat(61);
const rooms = (more: object = {}): string => JSON.stringify({ rows: [["words.ts"], ["shelf"], ["index.ts"]], ...more });

/** A package with three rows, without faults. */
const healthy = {
  "lib/layers.json": rooms(),
  "lib/src/words.ts": `export const word = 1;\n${long}`,
  "lib/src/shelf/book.ts": `import { word } from "../words.ts";\nexport const book = word;\n${long}`,
  "lib/src/index.ts": 'export { book } from "./shelf/book.ts";\n',
};

function faults(files: Readonly<Record<string, string>>): readonly string[] {
  using root = tree({ ...healthy, ...files });
  return checkRooms([join(root.path, "lib")]).map((fault) => fault.replace(`${root.path}/`, ""));
}

describe("check rooms", () => {
  it("accepts a package that keeps to its rows", () => {
    expect(faults({})).to.deep.equal([]);
  });

  const wrong: readonly (readonly [string, Record<string, string>, readonly string[]])[] = [
    [
      "an import that points up",
      { "lib/src/words.ts": `import type { book } from "./shelf/book.ts";\nexport type Word = typeof book;\n${long}` },
      [
        "lib/src: words.ts (words.ts, row 0) imports shelf/book.ts (shelf, row 1): imports point down",
        "lib/src: import cycle of types: shelf/book.ts, words.ts",
      ],
    ],
    [
      "a file without a row",
      { "lib/src/loose.ts": "export const loose = 1;\n" },
      ["lib/src: loose.ts has no row: give it, or its folder, one in layers.json"],
    ],
    [
      "a row whose folder is gone",
      { "lib/layers.json": rooms({ rows: [["words.ts"], ["shelf", "attic"], ["index.ts"]] }) },
      ['lib/src: layers.json: "attic" is not there any more'],
    ],
    [
      "two folders that import each other",
      {
        "lib/src/shelf/a/one.ts": `import { two } from "../b/two.ts";\nexport const one = two;\n${long}`,
        "lib/src/shelf/b/two.ts": `export const two = 1;\n${long}`,
        "lib/src/shelf/b/three.ts": `import { one } from "../a/one.ts";\nexport const three = one;\n${long}`,
      },
      ["lib/src: shelf/a and shelf/b import each other"],
    ],
    [
      "files that import each other",
      {
        "lib/src/shelf/a.ts": `import { b } from "./b.ts";\nexport const a = () => b;\n${long}`,
        "lib/src/shelf/b.ts": `import { a } from "./a.ts";\nexport const b = () => a;\n${long}`,
      },
      ["lib/src: import cycle: shelf/a.ts, shelf/b.ts"],
    ],
    [
      "a listed cycle of types that is gone",
      { "lib/layers.json": rooms({ typeCycles: [{ files: ["words.ts", "index.ts"], reason: "x" }] }) },
      ["lib/src: layers.json: no cycle of types index.ts words.ts"],
    ],
    [
      "a short file with one user beside it",
      {
        "lib/src/shelf/page.ts": "export const page = 1;\n",
        "lib/src/shelf/book.ts": `import { page } from "./page.ts";\nexport const book = page;\n${long}`,
      },
      ['lib/src: shelf/page.ts (1 lines) has one user, shelf/book.ts: fold it in, or give a reason under "seams"'],
    ],
    [
      "an obsolete seam",
      { "lib/layers.json": rooms({ seams: { "words.ts": "x" } }) },
      ['lib/src: layers.json: "words.ts" is no short file with one user'],
    ],
  ];
  for (const [what, files, expected] of wrong)
    it(`rejects ${what}`, () => {
      expect(faults(files)).to.deep.equal(expected);
    });

  it("rejects a package that declares no rows", () => {
    using root = tree({ "lib/src/index.ts": "export const a = 1;\n" });
    const home = join(root.path, "lib");
    expect(checkRooms([home])).to.deep.equal([`${home} has no layers.json: declare its rows there`]);
  });

  it("accepts a listed type cycle and a listed seam, and five cycles at most", () => {
    const cycle = {
      "lib/src/shelf/a.ts": `import type { B } from "./b.ts";\nexport type A = B[];\n${long}`,
      "lib/src/shelf/b.ts": 'import type { A } from "./a.ts";\nexport type B = A[];\n',
    };
    const typeCycles = [{ files: ["shelf/b.ts", "shelf/a.ts"], reason: "a tree" }];
    const seams = { "shelf/b.ts": "a seam" };
    expect(faults({ ...cycle, "lib/layers.json": rooms({ typeCycles, seams }) })).to.deep.equal([]);
    const many = Array.from({ length: 6 }, () => typeCycles).flat();
    expect(faults({ ...cycle, "lib/layers.json": rooms({ typeCycles: many, seams }) })).to.deep.equal([
      "6 cycles of types are listed, 5 is the cap",
    ]);
  });

  it("finds every cycle of a graph once", () => {
    const arrows = ["a b", "b c", "c a", "c d", "d e", "e d", "e f"].map((pair) => {
      const [from = "", to = ""] = pair.split(" ");
      return { from, to, isType: false };
    });
    expect(cyclesOf(arrows).sort()).to.deep.equal([
      ["a", "b", "c"],
      ["d", "e"],
    ]);
  });
});
