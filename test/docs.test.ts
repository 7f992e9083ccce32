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

describe("docs/reference/conformance.md", () => {
  const [, behind = ""] = readFileSync(`${root}/docs/reference/conformance.md`, "utf8").split(
    "\n## Differences from kcp\n",
  );
  // The other sections come from comparisons with a running kcp, which test/conformance/kcp verifies.
  const [kcp = ""] = behind.split(/\n##+ /);
  for (const row of kcp.split("\n").filter((line) => /^\| (?!what |---)/.test(line)))
    it(`names the test of a difference from kcp: ${row.split(" | ")[0]}`, () => {
      const [, file = "", title = ""] = /`(test\/[\w/.-]+)` "([^|]+)" \|$/.exec(row) ?? [];
      expect(readFileSync(`${root}/${file}`, "utf8")).to.include(title);
    });
});
