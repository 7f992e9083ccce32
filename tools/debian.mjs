// Why: some tests and benches need a program that is no npm package. Where there is apt it is fetched as Debian's package
// and unpacked below node_modules: no root is needed, nothing is installed.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { root } from "./install.mjs";

/**
 * `libraries`: the packages that it depends on and that the machine lacks are unpacked beside it.
 *
 * @typedef {{ readonly package: string, readonly program: string, readonly path: string, readonly remedy: string, readonly libraries?: boolean }} DebianProgram
 */

/** The program's file, or undefined. @param {DebianProgram} wanted @returns {string | undefined} */
export function findProgram({ package: name, program, path }) {
  const unpacked = join(root, "node_modules/.cache", name, "unpacked", path);
  if (existsSync(unpacked)) return unpacked;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((entry) => join(entry, program)).find((file) => existsSync(file));
}

/** Where a program that was unpacked finds the libraries that were unpacked beside it. @param {DebianProgram} wanted @returns {NodeJS.ProcessEnv} */
export function unpackedLibraries({ package: name }) {
  const libraries = join(root, "node_modules/.cache", name, "unpacked/usr/lib");
  if (!existsSync(libraries)) return {};
  const folders = globSync("**/*.so*", { cwd: libraries }).map((file) => join(libraries, dirname(file)));
  return { LD_LIBRARY_PATH: [...new Set(folders)].join(delimiter) };
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
function fetch({ package: name, remedy, libraries = false }) {
  const folder = join(root, "node_modules/.cache", name);
  const partial = join(folder, `partial-${process.pid}`);
  mkdirSync(partial, { recursive: true });
  try {
    const download = () => {
      const names = libraries ? missing(name, { cwd: partial, remedy }) : [name];
      command("apt-get", { args: ["download", ...names], cwd: partial, remedy });
    };
    try {
      download();
    } catch {
      // The machine's list of packages may name versions that are gone.
      command("apt-get", { args: ["update"], cwd: partial, remedy });
      download();
    }
    const archives = readdirSync(partial).filter((file) => file.endsWith(".deb"));
    if (archives.length === 0) throw new Error(`apt-get has left no package. ${remedy}`);
    for (const archive of archives) command("dpkg", { args: ["-x", archive, "unpacked"], cwd: partial, remedy });
    renameSync(join(partial, "unpacked"), join(folder, "unpacked"));
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** The package and those that it depends on, without what is installed. @param {string} name @param {{ cwd: string, remedy: string }} how */
function missing(name, how) {
  const list = ["install", "--print-uris", "--yes", "--quiet=2", "--no-install-recommends", name];
  const lines = command("apt-get", { args: list, ...how }).split("\n");
  return lines.flatMap((line) => /^'[^']+' ([^_ ]+)_/.exec(line)?.[1] ?? []);
}

/** What the program writes. @param {string} program @param {{ args: string[], cwd: string, remedy: string }} how @returns {string} */
function command(program, { args, cwd, remedy }) {
  const { status, error, stderr, stdout } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}\n${remedy}`);
  return stdout;
}
