// Why: `npm start` and `npm test` must work as the very first command in a fresh clone, on a machine with any Node from
// 20. So what is missing is installed here, with Node built-ins only, and a failure ends with its remedy, not a trace.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const localNode = join(root, "node_modules/.bin", process.platform === "win32" ? "node.cmd" : "node");

/** What to do, by what npm wrote; the first that matches wins. */
const REMEDIES = [
  [/ENOSPC/, "the disk is full: about 700 MB are needed here and in npm's cache"],
  [
    /EACCES|EPERM|EROFS/,
    "a folder cannot be written: look at the owner of this folder, of node_modules and of ~/.npm (`npm config get cache`)",
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED/,
    "the package registry cannot be reached: connect to the network, or tell npm the way (`npm config set proxy`, `npm config set registry`)",
  ],
  [/CERT|SELF_SIGNED|certificate/, "the registry's certificate is not trusted: `npm config set cafile <your CA file>`"],
  [/E40[13]\b/, "the registry wants a login: `npm login`"],
  [/ETARGET|E404|notarget/, "the registry lacks a version from package-lock.json: use one that has them all"],
  [/EINTEGRITY/, "a package differs from package-lock.json: `npm cache clean --force`, then again"],
  [/EUSAGE|in sync/, "package.json and package-lock.json disagree: `npm install`, then commit package-lock.json"],
];

/** @param {string} log @returns {string} */
export const remedyFor = (log) =>
  String(REMEDIES.find(([pattern]) => /** @type {RegExp} */ (pattern).test(log))?.[1] ?? "the log below has the cause");

/** @param {string} file @returns {Record<string, any>} the `packages` of a lock file, {} when there is none */
function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).packages : {};
}

/** @param {string[] | string | undefined} allowed @param {string} own */
const fits = (allowed, own) => allowed === undefined || [allowed].flat().includes(own);

/** The packages of a lock file that this machine needs. @param {string} dir @returns {[string, any][]} */
function wanted(dir) {
  return Object.entries(packagesOf(join(dir, "package-lock.json"))).filter(
    ([path, p]) =>
      path.includes("node_modules/") && !p.link && fits(p.os, process.platform) && fits(p.cpu, process.arch),
  );
}

const STAMP = "node_modules/.lock-stamp";

/** @param {string} dir */
function lockHash(dir) {
  const lock = readFileSync(join(dir, "package-lock.json"));
  return createHash("sha256").update(lock).digest("hex");
}

/** Whether node_modules holds what the lock file says; a stamp with its hash answers in a millisecond. @param {string} dir */
export function isInstalled(dir) {
  const stamp = join(dir, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lockHash(dir)) return true;
  const present = packagesOf(join(dir, "node_modules/.package-lock.json")); // npm's own record, after an `npm install` by hand
  const complete = wanted(dir).every(([path, p]) => p.optional || present[path]?.integrity === p.integrity);
  if (!complete || Object.keys(present).length === 0) return false;
  writeFileSync(stamp, lockHash(dir));
  return true;
}

/** Makes `dir/node_modules` match `dir/package-lock.json`, or exits 1 with the remedy. @param {string} dir */
export async function ensureInstalled(dir) {
  if (isInstalled(dir)) return;
  const packages = wanted(dir);
  const node = packages.find(([path]) => /\/node-(bin-)?(linux|darwin|win)-/.test(path))?.[1].version;
  const what = `${packages.length} packages of ${relative(process.cwd(), join(dir, "package-lock.json"))}`;
  process.stderr.write(`Fetching ${what}${node ? `, Node ${node} among them` : ""} (no install script runs) ...\n`);
  const began = Date.now();
  const log = await npmCi(dir, packages);
  if (log !== undefined) fail(log, readFileSync(log, "utf8"));
  writeFileSync(join(dir, STAMP), lockHash(dir));
  process.stderr.write(`Installed in ${((Date.now() - began) / 1000).toFixed(1)} s.\n`);
}

/** Runs `npm ci`; resolves to the log's path when it failed. @param {string} dir @param {[string, any][]} packages */
async function npmCi(dir, packages) {
  const logFile = join(mkdtempSync(join(tmpdir(), "virtual-workspaces-install-")), "npm.log");
  const out = openSync(logFile, "w");
  const began = Date.now();
  const cli = process.env["npm_execpath"]?.endsWith("npm-cli.js")
    ? [process.execPath, process.env["npm_execpath"]]
    : ["npm"];
  // The level is given, since `npm start --silent` would be inherited and leave nothing to read when it fails.
  const quiet = ["--no-audit", "--no-fund", "--no-progress", "--loglevel=warn", "--fetch-retry-mintimeout=1000"];
  const command = [...cli, "ci", "--ignore-scripts", ...quiet];
  const npm = spawn(String(command[0]), command.slice(1), { cwd: dir, stdio: ["ignore", out, out] });
  closeSync(out);
  const progress = setInterval(() => showProgress(dir, packages, began), process.stderr.isTTY ? 300 : 5000);
  const code = await new Promise((resolve) => npm.once("error", resolve).once("exit", resolve));
  clearInterval(progress);
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  if (code instanceof Error) writeFileSync(logFile, `npm cannot be started: ${code.message}`);
  if (code === 0) rmSync(dirname(logFile), { recursive: true });
  return code === 0 ? undefined : logFile;
}

/** @param {string} dir @param {[string, any][]} packages @param {number} began */
function showProgress(dir, packages, began) {
  const there = packages.filter(([path]) => existsSync(join(dir, path, "package.json"))).length;
  const line = `  ${there} of ${packages.length} packages, ${Math.round((Date.now() - began) / 1000)} s`;
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
}

/** @param {string} log @param {string} text @returns {never} */
function fail(log, text) {
  const errors = text.split("\n").filter((line) => /npm error \S|cannot be started/.test(line));
  console.error(
    `\nThe installation failed: ${remedyFor(text)}.\n\n  ${errors.slice(0, 8).join("\n  ")}\n\nThe whole log: ${log}`,
  );
  process.exit(1);
}

/** Exits with the remedy when the Node that was installed does not run here (musl, or an unknown platform). */
export function requireNode24() {
  if (spawnSync(localNode, ["--version"], { shell: process.platform === "win32" }).status === 0) return;
  console.error(
    `No Node 24 package runs on ${process.platform}-${process.arch}. Install Node 24 or newer yourself, and run this again with it.`,
  );
  process.exit(1);
}
