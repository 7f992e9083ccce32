// The page of reference about panels, compared with the sources, and the size of the example.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../tools/install.mjs";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const page = read("docs/reference/panels.md");
const styles = globSync("packages/plugins/console/app/src/**/*.css", { cwd: root }).map(read).join("\n");
const contract = read("packages/framework/src/panel/context.ts");

/** Names in backticks after a word, up to the end of the paragraph. */
const namesAfter = (word: string): string[] =>
  [...(page.split(`\n${word}`)[1]?.split("\n\n")[0] ?? "").matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name);

describe("the contract of panels", () => {
  it("promises custom properties that the page sets, all of its theme", () => {
    const [theme = ""] = read("packages/plugins/console/app/src/styles/base.css").split("font:");
    const set = [...theme.matchAll(/^ {2}(--[\w-]+):/gm)].map(([, name]) => name);
    expect(namesAfter("Custom properties").sort()).to.deep.equal(set.sort());
  });

  it("promises classes that the page styles", () => {
    const names = namesAfter("Classes");
    expect(names).to.have.length.above(8);
    for (const name of names) expect(styles, name).to.match(new RegExp(`\\.${name}\\b`));
  });

  it("lists members that the types have", () => {
    const [, members = ""] = page.split("## Module");
    const listed = [...(members.split("## Style")[0] ?? "").matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)/g)].map(([, name = ""]) => name),
    );
    expect(listed).to.have.length.above(20);
    for (const name of listed) expect(contract, name).to.match(new RegExp(`\\b${name}[(<?:]`));
  });

  it("has an example of at most 40 lines: a view and its panel", () => {
    const lines = ["polls", "polls-panel"].flatMap((name) => read(`examples/panels/${name}.ts`).trimEnd().split("\n"));
    expect(lines.length).to.be.at.most(40);
  });
});
