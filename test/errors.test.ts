// Why: users look up an error by its text, so each text must be documented, and documented texts must still exist. The tables
// of docs/reference/errors.md write `…` for variable parts.
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Sources with uniform quotation marks, and with concatenated strings joined. */
const sources = globSync("packages/{*,plugins/*}/src/**/*.ts", { cwd: root })
  .map((file) => readFileSync(`${root}/${file}`, "utf8"))
  .join("\n")
  .replace(/[`"] \+\s+[`"]/g, "");

/** Returns the texts in backticks in a column of the tables below a heading. */
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
    it(`below "${heading}" exist in the sources, word for word`, () => {
      const found = texts(heading, 0);
      expect(found).to.have.length.above(least);
      for (const text of found)
        for (const part of text.split("…").map((piece) => piece.trim()))
          if (part.length > 3) expect(sources, text).to.include(part);
    });

  it("of codes without a reason exist in the sources, word for word", () => {
    const found = texts("Reasons", 2).filter((text) => text.includes(" "));
    expect(found).to.have.length.above(4);
    for (const text of found) expect(sources).to.include(text);
  });
});
