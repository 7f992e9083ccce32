// Why: one place says which test files belong to which suite. `test.mjs <suite> [files or mocha options]`: named files run
// instead of the suite. A slow test's name ends in .slow.test.ts; what drives programs in Go is below test/go.
import { globSync } from "node:fs";
// @ts-expect-error mocha has no types for its command line
import { main } from "mocha/lib/cli/cli.js";

/** @param {string} file */
const suiteOf = (file) => {
  if (file.endsWith(".slow.test.ts")) return "test:slow";
  return /^test[/\\]go[/\\]/.test(file) ? "test:go" : "test";
};

const [suite = "test", ...args] = process.argv.slice(2);
const named = args.some((arg) => arg.endsWith(".ts"));
const files = named
  ? []
  : globSync("test/**/*.test.ts")
      .filter((file) => suiteOf(file) === suite)
      .sort();
if (!named && files.length === 0) throw new Error(`no test belongs to the suite ${suite}`);
process.env["SUITE"] = suite;
main([...args, ...(named ? [] : ["--forbid-only"]), ...files]);
