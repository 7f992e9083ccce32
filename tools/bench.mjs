// Why: `npm run bench` is the one way to every benchmark. A benchmark is a program bench/<name>.bench.ts whose first
// comment line says what it compares; --short runs all that take under a minute (those not
// named *.long.bench.ts), each as short as it can be and two at a time: that answers are right counts there, and no figure. --compare runs
// some in turns with those of an older commit.
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compareWith } from "./bench-compare.mjs";
import { root } from "./install.mjs";
import { inTurn } from "./share.mjs";

/** A bench that waits for ever must not take the others with it, ms. */
const PATIENCE = 240_000;
/** Runs that --compare prints at least, unless short. */
const LEAST = 3;
const files = globSync("bench/*.bench.ts", { cwd: root }).sort();
/** @param {string} file */
const nameOf = (file) => file.replace(/^bench[/\\]|(\.long)?\.bench\.ts$/g, "");
const [name, ...args] = process.argv.slice(2);
const compared = process.argv.indexOf("--compare");

if (name === undefined) {
  console.log("npm run bench -- NAME [--json]\nnpm run bench -- NAME... --compare COMMIT [--short]\n");
  for (const file of files) {
    const about = /^\/\/ *(.*)/.exec(readFileSync(join(root, file), "utf8"))?.[1] ?? "";
    console.log(`  ${nameOf(file).padEnd(16)} ${file.includes(".long.") ? "(long) " : ""}${about}`);
  }
} else if (compared > 0) {
  const commit = process.argv[compared + 1];
  if (commit === undefined) throw new Error("--compare needs a commit: npm run bench -- get list --compare HEAD~1");
  const names = process.argv.slice(2).filter((arg) => !arg.startsWith("--") && arg !== commit);
  const unknown = names.find((one) => !files.some((file) => nameOf(file) === one));
  if (unknown !== undefined) throw new Error(`no benchmark ${unknown}; \`npm run bench\` lists them`);
  const isShort = process.argv.includes("--short");
  const compare = { least: isShort ? 1 : LEAST, args: isShort ? ["--short"] : [] };
  const { passed, failed } = await compareWith({ root, names, commit, ...compare });
  console.log(`compare: ${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} else if (name === "--short") {
  const short = inTurn(files.filter((file) => !file.includes(".long.")));
  const waiting = [...short];
  let passed = 0;
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) if (await runs(file)) passed++;
  };
  await Promise.all([work(), work()]);
  console.log(`bench: ${passed} passed, ${short.length - passed} failed`);
  process.exitCode = passed === short.length ? 0 : 1;
} else {
  const file = files.find((candidate) => nameOf(candidate) === name);
  if (file === undefined) throw new Error(`no benchmark ${name}; \`npm run bench\` lists them`);
  process.argv.splice(1, 2, join(root, file));
  await import(join(root, file));
}

/**
 * Runs a bench, short, and then prints what it said. @returns whether it came to its end
 *
 * @param {string} file
 */
async function runs(file) {
  const began = performance.now();
  const { promise, resolve } = Promise.withResolvers();
  execFile(
    process.execPath,
    [...process.execArgv, join(root, file), "--short", ...args],
    { timeout: PATIENCE, maxBuffer: 16 * 2 ** 20 },
    (error, stdout, stderr) => {
      process.stdout.write(stdout + stderr);
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`${error === null ? "ok" : "not ok:"} ${nameOf(file)} ${seconds} s`);
      resolve(error === null);
    },
  );
  return promise;
}
