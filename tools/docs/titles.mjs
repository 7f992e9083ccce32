// Why: a page is called by its first heading, in the sidebar as in links to it.
import { readFileSync } from "node:fs";

/** @param {string} file a page @returns {string} its first heading, without Markdown's marks */
export function titleOf(file) {
  const text = readFileSync(file, "utf8").replace(/^---\n[\s\S]*?\n---\n/, "");
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`${file} has no heading: begin the page with "# <title>"`);
  return title
    .replace(/[`*]/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .trim();
}
