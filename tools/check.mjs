// Why: one command says whether the code is fit to be committed, a line for each check, all at once. `check.mjs [names]`
// runs only those named; files, folders and options after the names are for the language check.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkLayers } from "./check-layers.mjs";
import { checkLength } from "./check-length.mjs";
import { checkShape } from "./check-shape.mjs";
import { ensureConsole } from "./console.mjs";
import { ensureInstalled, root } from "./install.mjs";
import { run } from "./run.mjs";

/** What a check finds: nothing wrong when `faults` is empty. @typedef {{ faults: string[], notes?: string[], summary?: string }} Finding */

/** @param {string} program @param {string[]} args @returns {Promise<Finding>} */
async function program(program, ...args) {
  const { ok, output } = await run(program, args);
  return { faults: ok ? [] : [output] };
}

/** Emits, because tests of the packages need dist/, and checks what is not in a package. @returns {Promise<Finding>} */
async function types() {
  const built = await program("tsc", "-b", "tsconfig.build.json");
  if (built.faults.length > 0) return built;
  const { ok, output } = await ensureConsole();
  if (!ok) return { faults: [output] };
  const projects = ["packages/plugins/console/app", "examples/panels", "tsconfig.json"];
  const found = await Promise.all(projects.map((project) => program("tsc", "-p", project)));
  return { faults: found.flatMap(({ faults }) => faults) };
}

/** Errors are faults; where files are named, warnings are notes. @param {string[]} args files, folders, options @returns {Promise<Finding>} */
async function language(args) {
  const home = join(root, "tools/language");
  await ensureInstalled(home);
  const { ok, output } = await run("node", [join(home, "check.mjs"), ...args]);
  const lines = output.trimEnd().split("\n");
  const summary = (lines.pop() ?? "").replace(/^language: /, "");
  return ok ? { faults: [], notes: lines, summary } : { faults: [...lines, summary] };
}

/** @type {Record<string, (types: Promise<Finding>) => Finding | Promise<Finding>>} */
const CHECKS = {
  format: () => program("biome", "format", "--colors=off"),
  lint: () => program("biome", "check", "--formatter-enabled=false", "--error-on-warnings", "--colors=off"),
  types: (types) => types,
  layers: () => ({ faults: checkLayers(root) }),
  "dead-code": () => program("knip", "--no-progress"),
  "package-shape": async (types) =>
    (await types).faults.length > 0 ? { faults: ["the build fails"] } : { faults: await checkShape(root) },
  length: () => checkLength(root),
  language: () => language(targets),
};

/** @param {string} name @param {Promise<Finding>} built */
async function report(name, built) {
  const began = performance.now();
  const { faults, notes = [], summary = "" } = await (CHECKS[name]?.(built) ?? { faults: ["there is no such check"] });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${faults.length === 0 ? "ok  " : "FAIL"} ${name.padEnd(14)} ${seconds.padStart(5)} s  ${summary}`.trimEnd(),
  );
  for (const fault of [...faults, ...notes]) console.log(fault.replace(/^/gm, "     "));
  return faults.length === 0;
}

const args = process.argv.slice(2);
const targets = args.filter((arg) => !(arg in CHECKS) && (arg.startsWith("-") || existsSync(arg)));
const named = args.filter((arg) => !targets.includes(arg));
const every = targets.length > 0 ? ["language"] : Object.keys(CHECKS);
const names = named.length > 0 ? named : every;
const built = names.some((name) => /types|shape/.test(name)) ? types() : Promise.resolve({ faults: [] });
const results = await Promise.all(names.map((name) => report(name, built)));
const passed = results.filter(Boolean).length;
console.log(`check: ${passed} passed, ${results.length - passed} failed`);
process.exitCode = passed === results.length ? 0 : 1;
