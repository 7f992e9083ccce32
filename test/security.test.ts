// Why: a list of boundaries that names missing functions or tests protects nothing. An entry in docs/reference/security/ is a list item of two lines. The
// first is a sentence. The second names the file and function that enforce the boundary, and the file and title of the test that attacks it.
import { existsSync, globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = "docs/reference/security";
/** Pages whose lists are no boundaries. */
const OTHERS = ["index.md", "responsibilities.md"];
const ENTRY =
  /^- (?<boundary>[A-Z`].+\.)\n {2}Enforced in `(?<source>[\w/.-]+)` `(?<name>\w+)`; tested by `(?<test>[\w/.-]+)` "(?<title>.+)"\.$/;

const pages = globSync("*.md", { cwd: `${root}/${FOLDER}` })
  .filter((page) => !OTHERS.includes(page))
  .sort();

/** List items with their further lines, without those of the last section, which are links. */
function entries(page: string): string[] {
  const [text = ""] = readFileSync(`${root}/${FOLDER}/${page}`, "utf8").split("\n## Next\n");
  return text.match(/^ *([-*+]|\d+\.) .*(\n[^\S\n]+\S.*)*/gm) ?? [];
}

/** A path of an entry: below a folder, unless it begins at the root. */
function from(folder: string, path: string): string {
  return /^(packages|test|examples)\//.test(path) ? path : `${folder}/${path}`;
}

function read(file: string): string {
  expect(existsSync(`${root}/${file}`), `${file} exists`).to.equal(true);
  return readFileSync(`${root}/${file}`, "utf8");
}

describe(FOLDER, () => {
  it("has pages with boundaries", () => {
    expect(pages.flatMap(entries)).to.have.length.above(500);
  });

  for (const page of pages)
    describe(page, () => {
      it("has at most 150 boundaries, in one form", () => {
        expect(entries(page)).to.have.length.within(10, 150);
        for (const entry of entries(page)) expect(entry).to.match(ENTRY);
        const places = readFileSync(`${root}/${FOLDER}/${page}`, "utf8").match(/Enforced in `/g);
        expect(places).to.have.length(entries(page).length);
      });

      for (const entry of entries(page)) {
        const { boundary = "", source = "", name = "", test = "", title = "" } = ENTRY.exec(entry)?.groups ?? {};
        it(`names a function and a test that exist: ${boundary}`, () => {
          expect(read(from("packages/framework/src", source))).to.match(
            new RegExp(`(function\\*?|class|const|^ +) ?#?${name}\\b`, "m"),
          );
          expect(read(from("test/framework", test))).to.include(title);
        });
      }
    });
});
