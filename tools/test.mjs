// Why: one place says which test files belong to which suite. `test.mjs <suite> [files, folders or mocha options]`: named files
// run instead of the suite, and of a named folder the files of the suite below it. A file below test/go drives programs in Go; *.slow.test.ts takes minutes; *.e2e.test.ts, and what is
// below test/e2e, starts processes: the command line, kubectl, several servers. All others are `test`, which everybody runs.
import { spawn } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
// @ts-expect-error mocha has no types for its command line
import { main } from "mocha/lib/cli/cli.js";
import { inTurn } from "./share.mjs";

/**
 * How many files run at once. Tests wait for sockets, timers and processes more than they compute, so that three fill two
 * processors; a process of tests takes some 500 MiB.
 */
const JOBS = 3;
const SUITES = ["test", "test:e2e", "test:go", "test:slow"];

/** @param {string} file with slashes */
const suiteOf = (file) => {
  if (file.endsWith(".slow.test.ts")) return "test:slow";
  if (file.startsWith("test/go/")) return "test:go";
  return file.startsWith("test/e2e/") || file.endsWith(".e2e.test.ts") ? "test:e2e" : "test";
};

/** @param {string} suite */
function filesOf(suite) {
  const files = globSync("test/**/*.test.ts").map((file) => file.replaceAll("\\", "/"));
  return files.filter((file) => suiteOf(file) === suite).sort();
}

/**
 * Divides the arguments into folders and the rest. The value of an option (`-g cli`) is no folder.
 *
 * @param {readonly string[]} args
 */
function divide(args) {
  /** @param {string} arg @param {number} i */
  const isFolder = (arg, i) =>
    !/^--?[\w-]+$/.test(args[i - 1] ?? "") && statSync(arg, { throwIfNoEntry: false })?.isDirectory() === true;
  const folders = args.filter(isFolder).map((folder) => folder.replaceAll("\\", "/").replace(/^\.\/|\/+$/g, ""));
  return { folders, rest: args.filter((arg, i) => !isFolder(arg, i)) };
}

/** Whether a file of the suite drives programs in Go. @param {readonly string[]} files */
const needsGo = (files) => files.some((file) => file.startsWith("test/go/"));

/** Builds the programs in Go once, for all processes of the run. */
async function buildGo() {
  const began = performance.now();
  const { buildAll } = await import("../test/go/support/build.ts");
  const modules = await buildAll();
  process.env["GO_BUILT"] = modules.join(",");
  console.log(`Built the programs of ${modules.join(", ")} in ${((performance.now() - began) / 1000).toFixed(1)} s.`);
}

/** Runs every suite in a process of its own, and adds up what they counted. @param {string[]} args */
async function all(args) {
  /** @type {string[]} */
  const failures = [];
  let [passed, failed] = [0, 0];
  for (const suite of SUITES) {
    console.log(`\n=== ${suite}`);
    const command = [...process.execArgv, fileURLToPath(import.meta.url), suite, ...args];
    const child = spawn(process.execPath, command, { stdio: ["inherit", "pipe", "inherit"] });
    let counted = false;
    let rest = "";
    for await (const text of child.stdout.setEncoding("utf8")) {
      process.stdout.write(text);
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("not ok: ")) failures.push(`${suite} ${line}`);
        const [, passes, fails] = /^test(?::\w+)?: (\d+) passed, (\d+) failed$/.exec(line) ?? [];
        if (passes === undefined) continue;
        counted = true;
        passed += Number(passes);
        failed += Number(fails);
      }
    }
    if (!counted) failures.push(`${suite} ended before it had counted`);
    if (!counted) failed++;
  }
  console.log(["", ...failures, `test:all: ${passed} passed, ${failed} failed`].join("\n"));
  process.exitCode = failed === 0 ? 0 : 1;
}

const [suite = "test", ...args] = process.argv.slice(2);
if (suite === "test:all") await all(args);
else {
  const { folders, rest } = divide(args);
  const named = rest.some((arg) => arg.endsWith(".ts"));
  const ofSuite = filesOf(suite);
  const below = ofSuite.filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)));
  const files = folders.length > 0 ? below : named ? [] : inTurn(ofSuite);
  const missing = folders.find((folder) => !below.some((file) => file.startsWith(`${folder}/`)));
  if (missing !== undefined) throw new Error(`no test of the suite ${suite} is below ${missing}: ${SUITES.join(", ")}`);
  if (!named && files.length === 0) throw new Error(`no test belongs to the suite ${suite}: ${SUITES.join(", ")}`);
  process.env["SUITE"] = suite;
  delete process.env["MOCHA_WORKER_ID"]; // of the process that runs a test which runs this
  if (needsGo(files)) await buildGo();
  const whole = ["--forbid-only", "--parallel", `--jobs=${JOBS}`];
  main([...rest, ...(named ? [] : whole), ...files]);
}
