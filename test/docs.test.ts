// Why: finds an error that the page lacks, and a page that has an error which no code throws. A section of docs/reference/errors.md
// has the reason and its HTTP code as heading: ### NotFound (404)
import { globSync, readFileSync } from "node:fs";
import { statusReasons } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import { root } from "../tools/install.mjs";

/** The headings of the section about reasons. */
function documented(): string[] {
  const [, section = ""] = readFileSync(`${root}/docs/reference/errors.md`, "utf8").split("\n## Reasons\n");
  const [reasons = ""] = section.split("\n## ");
  return [...reasons.matchAll(/^### (.+)$/gm)].map(([, heading = ""]) => heading).sort();
}

/** The HTTP code of a reason, which the package does not export. */
function statusCode(reason: string): string | undefined {
  const source = readFileSync(`${root}/packages/apimachinery/src/meta/status.ts`, "utf8");
  return new RegExp(`^  ${reason}: (\\d{3}),$`, "m").exec(source)?.[1];
}

/** Returns the stable codes of errors that are not a Status, from string literals in the sources. */
function codes(): string[] {
  const sources = globSync("packages/**/src/**/*.ts", { cwd: root }).map((file) =>
    readFileSync(`${root}/${file}`, "utf8"),
  );
  return [...new Set(sources.flatMap((text) => text.match(/(?<=")ERR_VW_[A-Z_]+(?=")/g) ?? []))].sort();
}

describe("docs/reference/errors.md", () => {
  it("has a section for each reason of ApiError, with its code, and each ERR_VW code, and no other", () => {
    const reasons = statusReasons.map((reason) => `${reason} (${statusCode(reason)})`);
    expect(documented()).to.deep.equal([...reasons, ...codes()].sort());
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
