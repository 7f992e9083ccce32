// Why: one place says which test files belong to which suite. `test.mjs <suite> [files or mocha options]`: named files run
// instead of the suite. A slow test's name ends in .slow.test.ts; what drives programs in Go is below test/go. The files
// of `test`, which measure nothing but their own work, run in as many processes as there are processors; those of
// `test:go` and `test:slow`, which mostly wait, three at a time.
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
// @ts-expect-error mocha has no types for its command line
import { main } from "mocha/lib/cli/cli.js";
import { inTurn } from "./share.mjs";

/** Each process of tests takes some 500 MiB. */
const MOST = 4;

/** @param {string} file */
const suiteOf = (file) => {
  if (file.endsWith(".slow.test.ts")) return "test:slow";
  return /^test[/\\]go[/\\]/.test(file) ? "test:go" : "test";
};

/**
 * Which tests of `test` take turns where there is little time: those that start the command line, kubectls or whole servers again and again, half
 * of the files' time. The guides, in one file, take turns by themselves.
 *
 * @param {string} file
 */
const isHeavy = (file) =>
  /^test[/\\](cli|conformance|e2e|plugins[/\\](cluster-proxy|spaces)|workspace-server)[/\\]/.test(file);

const [suite = "test", ...args] = process.argv.slice(2);
const named = args.some((arg) => arg.endsWith(".ts"));
const own = globSync("test/**/*.test.ts").filter((file) => suiteOf(file) === suite);
const files = named ? [] : inTurn(own.sort(), suite === "test" ? isHeavy : undefined);
if (!named && files.length === 0) throw new Error(`no test belongs to the suite ${suite}`);
process.env["SUITE"] = suite;
delete process.env["MOCHA_WORKER_ID"]; // of the process that runs a test which runs this
const whole = [
  "--forbid-only",
  ...(suite === "test" ? ["--parallel", `--jobs=${Math.min(availableParallelism(), MOST)}`] : []),
  ...(suite === "test" ? [] : ["--parallel", "--jobs=3"]),
];
main([...args, ...(named ? [] : whole), ...files]);
