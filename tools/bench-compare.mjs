// Why: a figure on one day and another on the next say little, as machines differ and are busy. Here a benchmark runs in turns with the same
// benchmark of an older commit, and only a change in every run counts.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Runs that make a difference certain; noise would have to be the same in all. */
const MOST = 6;
/** Ratio to the older commit above which a figure is worse. */
const WORSE = 1.15;
const BUFFER = 64 * 2 ** 20;

/** @typedef {import("../bench/_harness/report.ts").Figure} Figure */
/** A figure with its ratio to the older commit in each run; above 1 is worse. @typedef {{ what: string, ratios: number[], worse: boolean }} Compared */

/**
 * Compares the figures that have goals; the goal says which direction is better.
 *
 * @param {readonly { before: readonly Figure[], now: readonly Figure[] }[]} runs
 * @returns {Compared[]}
 */
export function compareRuns(runs) {
  const compared = [];
  for (const { what, rival, goal } of runs[0]?.now ?? []) {
    const higherIsBetter = goal?.startsWith("at least") === true;
    if (goal === null || goal?.startsWith("exactly")) continue;
    const ratios = runs.map(({ before, now }) => {
      const [value = 0, older = 0] = [now, before].map(
        (figures) => figures.find((one) => one.what === what && one.rival === rival)?.value ?? Number.NaN,
      );
      return higherIsBetter ? older / value : value / older;
    });
    // A figure that the older commit does not have has no ratio.
    if (ratios.some(Number.isNaN)) continue;
    const name = rival === null ? what : `${what} (${rival})`;
    compared.push({ what: name, ratios, worse: ratios.every((ratio) => ratio > WORSE) });
  }
  return compared;
}

/**
 * Runs benchmarks in turns with those of a commit, and prints how each figure with a goal has changed. After `least` runs, it ends as soon as
 * no figure is worse in all of them. A benchmark that the commit does not have, or that does not run there, is left out.
 *
 * @param {{ root: string, names: readonly string[], commit: string, least: number, args: readonly string[] }} options
 * @returns {Promise<{ passed: number, failed: number }>} numbers of benchmarks without and with a figure that is worse
 */
export async function compareWith({ root, names, commit, least, args }) {
  const folder = mkdtempSync(join(tmpdir(), "virtual-workspaces-bench-"));
  const { stdout } = await run("git", ["rev-parse", "--verify", `${commit}^{commit}`], { cwd: root });
  const hash = stdout.trim();
  await run("git", ["worktree", "add", "--detach", folder, hash], { cwd: root });
  try {
    console.log(`Installing ${hash.slice(0, 12)} ...`);
    await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], {
      cwd: folder,
      maxBuffer: BUFFER,
    });
    let [passed, failed] = [0, 0];
    for (const name of names) {
      const compared = await inTurns({ folder, root, name, least, args });
      if (typeof compared === "string") {
        console.log(`\n${name}: not compared, the benchmark of ${hash.slice(0, 12)} does not run: ${compared}`);
        continue;
      }
      console.log(`\n${name}, against ${hash.slice(0, 12)}; above 1 is worse`);
      for (const { what, ratios, worse } of compared) {
        console.log(`  ${worse ? "WORSE" : "     "} ${ratios.map((ratio) => ratio.toFixed(2)).join("  ")}  ${what}`);
        if (worse)
          console.log(`not ok: bench ${name}: ${what} is more than ${WORSE} times the older commit's in all runs`);
      }
      if (compared.some(({ worse }) => worse)) failed++;
      else passed++;
    }
    return { passed, failed };
  } finally {
    await run("git", ["worktree", "remove", "--force", folder], { cwd: root });
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a benchmark of `root` in turns with the older one of `folder`.
 *
 * @param {{ folder: string, root: string, name: string, least: number, args: readonly string[] }} options
 * @returns {Promise<Compared[] | string>} the error of the older benchmark if it does not run
 */
export async function inTurns({ folder, root, name, least, args }) {
  const runs = [];
  for (;;) {
    let before;
    try {
      before = await figuresOf(folder, name, args);
    } catch (error) {
      const output = String(/** @type {{ stderr?: string }} */ (error).stderr || error);
      return /^.*Error: .*$/m.exec(output)?.[0] ?? output;
    }
    runs.push({ before, now: await figuresOf(root, name, args) });
    const compared = compareRuns(runs);
    if (runs.length >= least && (runs.length === MOST || !compared.some(({ worse }) => worse))) return compared;
  }
}

/** @param {string} root @param {string} name @param {readonly string[]} args @returns {Promise<Figure[]>} */
async function figuresOf(root, name, args) {
  const all = ["tools/bootstrap.mjs", "tools/bench.mjs", name, "--json", ...args];
  const { stdout } = await run(process.execPath, all, { cwd: root, maxBuffer: BUFFER });
  const line = stdout.split("\n").find((text) => text.startsWith("{"));
  if (line === undefined) throw new Error(`benchmark ${name} printed no figures:\n${stdout}`);
  return JSON.parse(line).figures;
}
