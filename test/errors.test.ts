// Why: an error that somebody looks up by its text must be found, and a text that nothing throws any more must go. The
// tables of docs/reference/errors.md write `…` for what differs.
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The sources, with one kind of quotation mark around texts and none of the breaks within long ones. */
const sources = globSync("packages/{*,plugins/*}/src/**/*.ts", { cwd: root })
  .map((file) => readFileSync(`${root}/${file}`, "utf8"))
  .join("\n")
  .replace(/[`"] \+\s+[`"]/g, "");

/** The texts in backticks that stand in the given column of the tables under a heading. */
function texts(heading: string, column: number): string[] {
  const [, section = ""] = readFileSync(`${root}/docs/reference/errors.md`, "utf8").split(`## ${heading}\n`);
  const rows = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => /^\| (`|\d)/.test(line));
  return rows.flatMap((row) =>
    [...(row.split(" | ")[column] ?? "").matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text),
  );
}

describe("the texts in docs/reference/errors.md", () => {
  const sections: readonly (readonly [string, number])[] = [
    ["Errors at definition", 10],
    ["Errors of the client", 10],
    ["Errors of lists and watches across Spaces", 5],
    ["Errors of the workspace server", 10],
    ["Errors of the views of APIExports", 5],
  ];
  for (const [heading, least] of sections)
    it(`below "${heading}" are thrown somewhere, word for word`, () => {
      const found = texts(heading, 0);
      expect(found).to.have.length.above(least);
      for (const text of found)
        for (const part of text.split("…").map((piece) => piece.trim()))
          if (part.length > 3) expect(sources, text).to.include(part);
    });

  it("of codes without a reason are answered somewhere, word for word", () => {
    const found = texts("Reasons", 2).filter((text) => text.includes(" "));
    expect(found).to.have.length.above(4);
    for (const text of found) expect(sources).to.include(text);
  });
});
