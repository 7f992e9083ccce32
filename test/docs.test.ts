// Why: finds errors that are not documented, and documented errors that no longer exist. A row of docs/reference/errors.md
// begins with the reason or the code in backticks: | `NotFound` | 404 | ... |
import { globSync, readFileSync } from "node:fs";
import { statusReasons } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import { root } from "../tools/install.mjs";

const documented = (): string[] =>
  [...readFileSync(`${root}/docs/reference/errors.md`, "utf8").matchAll(/^\| *`(\w+)`/gm)]
    .map(([, name = ""]) => name)
    .sort();

/** Returns the stable codes of errors that are not a Status, from string literals in the sources. */
function codes(): string[] {
  const sources = globSync("packages/**/src/**/*.ts", { cwd: root }).map((file) =>
    readFileSync(`${root}/${file}`, "utf8"),
  );
  return [...new Set(sources.flatMap((text) => text.match(/(?<=")ERR_VW_[A-Z_]+(?=")/g) ?? []))].sort();
}

describe("docs/reference/errors.md", () => {
  it("has a row for each reason of ApiError and each code, and no other", () => {
    expect(documented()).to.deep.equal([...statusReasons, ...codes()].sort());
  });
});

describe("docs/reference/kcp/differences.md", () => {
  const text = readFileSync(`${root}/docs/reference/kcp/differences.md`, "utf8");
  const [, tested = ""] = text.split("\n## Not implemented\n")[0]?.split("\n## URLs and errors\n") ?? [];
  const entries = tested.match(/^- .*(\n +\S.*)*/gm) ?? [];

  it("has differences with tests", () => {
    expect(entries).to.have.length.above(50);
  });

  for (const entry of entries)
    it(`names the test of a difference: ${entry.split(".** ")[0]}`, () => {
      const [, file = "", title = ""] = /\n {2}Tested by `(test\/[\w/.-]+)` "(.+)"\.$/.exec(entry) ?? [];
      expect(readFileSync(`${root}/${file}`, "utf8")).to.include(title);
    });
});
