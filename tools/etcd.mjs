// Why: the store is tested with the oldest line of etcd that it supports, 3.4, which Debian still ships; the newest is built
// from test/go/etcd. `etcd.mjs` fetches Debian's package where there is apt and no etcd on the PATH, and unpacks it below
// node_modules: no root is needed, nothing is installed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "./install.mjs";

const PACKAGE = "etcd-server";
const folder = join(root, "node_modules/.cache/etcd");
const unpacked = join(folder, "unpacked/usr/bin/etcd");

export const ETCD_REMEDY = `etcd 3.4 is not there: put an etcd on the PATH, or, on Debian and Ubuntu, run \`node tools/bootstrap.mjs tools/etcd.mjs\` (after \`apt-get update\` if the package ${PACKAGE} is not found)`;

/** The program, or undefined. @returns {string | undefined} */
export function findEtcd() {
  if (existsSync(unpacked)) return unpacked;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((entry) => join(entry, "etcd")).find((file) => existsSync(file));
}

/** Fetches it, or throws an error that names the remedy. */
function fetchEtcd() {
  const partial = join(folder, `partial-${process.pid}`);
  mkdirSync(partial, { recursive: true });
  try {
    command("apt-get", ["download", PACKAGE], partial);
    const [archive] = readdirSync(partial).filter((file) => file.endsWith(".deb"));
    if (archive === undefined) throw new Error(`apt-get has left no package. ${ETCD_REMEDY}`);
    command("dpkg", ["-x", archive, "unpacked"], partial);
    renameSync(join(partial, "unpacked"), join(folder, "unpacked"));
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** @param {string} program @param {string[]} args @param {string} cwd */
function command(program, args, cwd) {
  const { status, error, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}\n${ETCD_REMEDY}`);
}

if (process.argv[1] === import.meta.filename) {
  try {
    if (findEtcd() === undefined) fetchEtcd();
    console.log(findEtcd());
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exit(1);
  }
}
