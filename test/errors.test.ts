// Why: readers search for the text of an error, so the text must be exact, and a text that no code throws must go. The pages in
// docs/reference/errors have a list item for each message. It begins with the text, in which `…` stands for a part that differs.
import { existsSync, globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Sources with uniform quotation marks, and with concatenated strings joined. */
const sources = globSync("packages/{*,plugins/*}/src/**/*.ts", { cwd: root })
  .map((file) => readFileSync(`${root}/${file}`, "utf8"))
  .join("\n")
  .replace(/[`"] \+\s+[`"]/g, "");

/** Each page with the least number of its messages. */
const PAGES: Readonly<Record<string, number>> = {
  "errors.md": 50,
  "errors/definition.md": 80,
  "errors/client.md": 15,
  "errors/workspace-server.md": 50,
  "errors/kcp-views.md": 15,
  "errors/remote.md": 30,
  "errors/spaces.md": 35,
  "errors/front-proxy.md": 10,
};

const pageOf = (page: string): string => readFileSync(`${root}/docs/reference/${page}`, "utf8");

/** The texts in backticks with which list items begin: `one`, or `one`, `another`. */
function messages(page: string): string[] {
  const heads = pageOf(page).match(/^- `[^`]+`(?:, `[^`]+`)*(?=$|:|;| \()/gm) ?? [];
  return heads.flatMap((head) => [...head.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text));
}

describe("the messages in docs/reference/errors", () => {
  it("are on these pages and no others", () => {
    const pages = globSync("docs/reference/errors/*.md", { cwd: root }).map((file) =>
      file.slice("docs/reference/".length),
    );
    expect(["errors.md", ...pages].sort()).to.deep.equal(Object.keys(PAGES).sort());
  });

  for (const [page, least] of Object.entries(PAGES)) {
    it(`of ${page} occur in the sources, word for word`, () => {
      const found = messages(page);
      expect(found).to.have.length.of.at.least(least);
      for (const text of found) {
        const parts = text.split("…").map((part) => part.trim());
        expect(Math.max(...parts.map((part) => part.length)), `${text}: characters in one part`).to.be.above(5);
        for (const part of parts) if (part.length > 3) expect(sources, text).to.include(part);
      }
    });

    it(`of ${page} begin every list item that begins with code`, () => {
      for (const [line] of pageOf(page).matchAll(/^- `.*/gm))
        expect(line).to.match(/^- `[^`]+`(?:, `[^`]+`)*(?:$|:|;| \()/);
    });

    it(`of ${page} name tests that exist`, () => {
      for (const [, file] of pageOf(page).matchAll(/`(test\/[^`]+)`/g))
        expect(existsSync(`${root}/${file}`), `${file} exists`).to.equal(true);
    });
  }
});
