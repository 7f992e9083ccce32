// Why: one place says which test files are the fast suite and which the slow one. `test.mjs <suite> [files or mocha
// options]`: named files run instead of the suite. A slow test's name ends in .slow.test.ts.
import { globSync } from "node:fs";
// @ts-expect-error mocha has no types for its command line
import { main } from "mocha/lib/cli/cli.js";

/** @type {Record<string, (file: string) => boolean>} */
const SUITES = {
  test: (file) => !file.endsWith(".slow.test.ts"),
  "test:slow": (file) => file.endsWith(".slow.test.ts"),
};

const [suite = "test", ...args] = process.argv.slice(2);
const belongs = SUITES[suite];
if (belongs === undefined) throw new Error(`no suite ${suite}; there are ${Object.keys(SUITES).join(", ")}`);
const named = args.some((arg) => arg.endsWith(".ts"));
const files = named ? [] : globSync("test/**/*.test.ts").filter(belongs).sort();
process.env["SUITE"] = suite;
main([...args, ...(named ? [] : ["--forbid-only"]), ...files]);
