// Why: `@see docs/how-to/writes.md` leads to a page for those who read the sources or the site, and nowhere in an installed package.
// Before packing it becomes the page's URL below `homepage` of the root package.json; without a homepage it goes.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SEE = /^[ \t]*\* @see docs\/([\w./-]+)\.md(#[\w-]+)?[ \t]*\r?\n/gm;

/** Rewrites the declarations of all packages below `root`. @param {string} root */
export function linkPages(root) {
  const { homepage } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const name of globSync("packages/{*,plugins/*}/dist/**/*.d.ts", { cwd: root })) {
    const file = join(root, name);
    const text = readFileSync(file, "utf8");
    const linked = text.replace(SEE, (line, page, anchor = "") =>
      homepage === undefined ? "" : line.replace(/docs\/\S+/, `${homepage.replace(/\/$/, "")}/${page}.html${anchor}`),
    );
    if (linked !== text) writeFileSync(file, linked);
  }
}

/** Returns the pages in the repository to which a declaration refers. @param {string} text @returns {string[]} */
export function deadPages(text) {
  return text.match(/(?<![\w/.-])docs\/[\w./-]+\.md/g) ?? [];
}
