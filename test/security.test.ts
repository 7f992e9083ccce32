// Why: a boundary whose code or test no longer exists protects nothing. A row of docs/reference/security.md ends with the
// file and function that enforce the boundary, and the file and title of the test that attacks it: all four must exist.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("..", import.meta.url));
const ROW =
  /^\| (?<boundary>[^|]+) \| `(?<source>[\w/.-]+)` `(?<name>\w+)` \| `(?<test>[\w/.-]+)` "(?<title>[^|]+)" \|$/;

/** Returns the rows of tables, without their headers. */
function rows(): string[] {
  const lines = readFileSync(`${root}/docs/reference/security.md`, "utf8").split("\n");
  return lines.filter((line) => line.startsWith("|") && !/^\|( boundary |---)/.test(line));
}

/** Resolves a path of the table: below a folder, unless it begins at the root. */
function from(folder: string, path: string): string {
  return /^(packages|test|examples)\//.test(path) ? path : `${folder}/${path}`;
}

function read(file: string): string {
  expect(existsSync(`${root}/${file}`), `${file} is there`).to.equal(true);
  return readFileSync(`${root}/${file}`, "utf8");
}

describe("docs/reference/security.md", () => {
  it("has a row for each boundary, in one form", () => {
    expect(rows()).to.have.length.above(25);
    for (const row of rows()) expect(row).to.match(ROW);
  });

  for (const row of rows()) {
    const { boundary = "", source = "", name = "", test = "", title = "" } = ROW.exec(row)?.groups ?? {};
    it(`names existing code and tests: ${boundary}`, () => {
      expect(read(from("packages/framework/src", source))).to.match(
        new RegExp(`(function\\*?|class|const|^ +) ?#?${name}\\b`, "m"),
      );
      expect(read(from("test/framework", test))).to.include(title);
    });
  }
});
