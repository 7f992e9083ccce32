// Why: a file that cannot be read at one sitting is not read at all. 400 lines is the cap, tests included and generated code excepted; the median
// says where the code is heading.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const CAP = 400;

/** Files over the cap, and a line on all of them. @param {string} root */
export function checkLength(root) {
  const lengths = globSync("{packages,test,examples,bench,tools}/**/*.{ts,mjs,go}", {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist|fixtures|generated)$/.test(path),
  })
    .filter((file) => !file.endsWith(".d.ts"))
    .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").trimEnd().split("\n").length }))
    .sort((a, b) => a.lines - b.lines);
  const median = lengths[lengths.length >> 1]?.lines ?? 0;
  const faults = lengths
    .filter(({ lines }) => lines > CAP)
    .map(({ file, lines }) => `${file}: ${lines} lines, ${CAP} is the cap`);
  return { faults, summary: `${lengths.length} files, median ${median} lines` };
}
