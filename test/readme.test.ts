// Why: readers try the README first. It stays one page, its view is a running example, and all links of the pages have a
// target.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { root } from "../tools/install.mjs";

const read = (file: string): string => readFileSync(join(root, file), "utf8");

describe("README.md", () => {
  it("is one page", () => {
    expect(read("README.md").split("\n")).to.have.length.below(100);
  });

  it("shows examples/quotes.ts unchanged, in thirty lines", () => {
    const [, shown = ""] =
      /^<!-- examples\/quotes.ts, as it is -->\n```ts\n([\s\S]*?)^```$/m.exec(read("README.md")) ?? [];
    const example = read("examples/quotes.ts");
    expect(shown).to.equal(example);
    expect(example.trimEnd().split("\n")).to.have.length.at.most(30);
  });
});

describe("links between pages", () => {
  for (const page of globSync("{*,docs/**/*,bench/*,packages/*/*,test/go/**/*}.md", {
    cwd: root,
    exclude: ["docs/reference/api/**", "**/node_modules/**"],
  })) {
    it(page, () => {
      const links = [
        ...read(page)
          .replace(/`[^`\n]*`/g, "")
          .matchAll(/\]\((?!https?:|#)([^)#]+)/g),
      ].map(([, link = ""]) => link);
      const dead = links.filter((link) => !existsSync(join(root, dirname(page), link)));
      expect(dead).to.deep.equal([]);
    });
  }
});
