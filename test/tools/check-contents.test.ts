import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { checkContents } from "../../tools/check-contents.mjs";
import { linkPages } from "../../tools/see-links.mjs";
import { tree } from "../_setup/tree.ts";

const manifest = (name: string): string =>
  JSON.stringify({ name, version: "1.0.0", license: "MIT", files: ["dist", "!dist/.tsbuildinfo"] });
const map = (content: object): string =>
  JSON.stringify({ version: 3, mappings: "", sources: ["../src/a.ts"], ...content });

describe("the check of packed files", () => {
  it("reports tests, maps without sources or file, dead pages, and a missing license", async function () {
    this.timeout(30_000);
    using clone = tree({
      "package.json": JSON.stringify({ name: "root", private: true, workspaces: ["packages/*"] }),
      "packages/good/package.json": manifest("good"),
      "packages/good/LICENSE": "",
      "packages/good/README.md": "",
      "packages/good/dist/a.js": "//# sourceMappingURL=a.js.map\n",
      "packages/good/dist/a.js.map": map({ sourcesContent: ["export {};"] }),
      "packages/bad/package.json": manifest("bad"),
      "packages/bad/README.md": "",
      "packages/bad/dist/a.test.js": "",
      "packages/bad/dist/b.js": "//# sourceMappingURL=b.js.map\n",
      "packages/bad/dist/c.js.map": map({}),
      "packages/bad/dist/d.d.ts":
        "/** See `docs/how-to/tls.md`, not https://example.dev/docs/how-to/tls.md. */\nexport {};\n",
    });
    expect(await checkContents(clone.path)).to.deep.equal([
      "bad lacks LICENSE: add it",
      'bad: dist/a.test.js is no built file: correct "files" in package.json',
      "bad: dist/b.js leads to b.js.map, which is not packed",
      "bad: dist/c.js.map has no sources: set inlineSources in tsconfig.package.json",
      "bad: dist/d.d.ts refers to docs/how-to/tls.md, which is not packed: use a line `@see docs/how-to/tls.md`",
    ]);
  });
});

describe("packing", () => {
  for (const [homepage, see] of [
    [undefined, ""],
    ["https://example.dev/vw/", " * @see https://example.dev/vw/how-to/tls.html#sni\n"],
  ] as const)
    it(`${homepage === undefined ? "removes" : "links"} pages in docstrings ${homepage === undefined ? "without" : "below"} a home page`, () => {
      const declaration = (line: string): string => `/**\n * Text.\n *\n${line} */\nexport declare const a = 1;\n`;
      using clone = tree({
        "package.json": JSON.stringify({ name: "root", homepage }),
        "packages/a/dist/deep/a.d.ts": declaration(" * @see docs/how-to/tls.md#sni\n"),
      });
      linkPages(clone.path);
      expect(readFileSync(join(clone.path, "packages/a/dist/deep/a.d.ts"), "utf8")).to.equal(declaration(see));
    });
});
