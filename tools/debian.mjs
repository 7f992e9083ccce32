// Why: some tests and benches need a program that is no npm package. Where there is apt it is fetched as Debian's package
// and unpacked below node_modules: no root is needed, nothing is installed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "./install.mjs";

/** @typedef {{ readonly package: string, readonly program: string, readonly path: string, readonly remedy: string }} DebianProgram */

/** The program's file, or undefined. @param {DebianProgram} wanted @returns {string | undefined} */
export function findProgram({ package: name, program, path }) {
  const unpacked = join(root, "node_modules/.cache", name, "unpacked", path);
  if (existsSync(unpacked)) return unpacked;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((entry) => join(entry, program)).find((file) => existsSync(file));
}

/** Fetches it unless it is there, says where it is, and ends with 1 and the remedy when it cannot be had. @param {DebianProgram} wanted */
export function bring(wanted) {
  try {
    if (findProgram(wanted) === undefined) fetch(wanted);
    console.log(findProgram(wanted));
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exit(1);
  }
}

/** @param {DebianProgram} wanted */
function fetch({ package: name, remedy }) {
  const folder = join(root, "node_modules/.cache", name);
  const partial = join(folder, `partial-${process.pid}`);
  mkdirSync(partial, { recursive: true });
  try {
    command("apt-get", { args: ["download", name], cwd: partial, remedy });
    const [archive] = readdirSync(partial).filter((file) => file.endsWith(".deb"));
    if (archive === undefined) throw new Error(`apt-get has left no package. ${remedy}`);
    command("dpkg", { args: ["-x", archive, "unpacked"], cwd: partial, remedy });
    renameSync(join(partial, "unpacked"), join(folder, "unpacked"));
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** @param {string} program @param {{ args: string[], cwd: string, remedy: string }} how */
function command(program, { args, cwd, remedy }) {
  const { status, error, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}\n${remedy}`);
}
