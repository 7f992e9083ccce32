// Why: the page of the console is a bundle that servers read from dist/, also when they run from source. `ensureConsole` builds it
// if its sources have changed since; `console.mjs <entry> [arguments]` does so beside an entry that serves it, which need not wait.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./install.mjs";
import { run } from "./run.mjs";

const home = join(root, "packages/plugins/console");
const page = join(home, "dist/app");
const stamp = join(home, "dist/.app-hash");
/** Replaced as a whole by `ensureConsole`. */
export const consoleOutput = [page, stamp];

/** Sources of the page, and the lock file with the versions of its dependencies. */
function sources() {
  const files = readdirSync(join(home, "app"), { recursive: true, encoding: "utf8" }).map((name) => join("app", name));
  const others = ["src/doctor-texts.ts", "package.json"];
  return [...[...files, ...others].map((name) => join(home, name)), join(root, "package-lock.json")].sort();
}

/** @param {readonly string[]} paths */
function contentHash(paths) {
  const hash = createHash("sha256");
  for (const path of paths) if (statSync(path).isFile()) hash.update(path).update(readFileSync(path));
  return hash.digest("hex");
}

/** Each start compares sizes and times. It reads the files only if one has changed, since that takes longer. @param {readonly string[]} paths */
function timesHash(paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const { size, mtimeMs, ctimeMs } = statSync(path);
    hash.update(`${path} ${size} ${mtimeMs} ${ctimeMs}\n`);
  }
  return hash.digest("hex");
}

/** Builds the page if necessary. @returns {Promise<{ ok: boolean, output: string }>} */
export async function ensureConsole() {
  if (!existsSync(join(home, "app"))) return { ok: true, output: "" }; // a copy with a part of the packages
  const paths = sources();
  const times = timesHash(paths);
  const isBuilt = existsSync(join(page, "index.html")) && existsSync(stamp);
  const [builtFrom, timesThen] = isBuilt ? readFileSync(stamp, "utf8").split(" ") : [];
  if (timesThen === times) return { ok: true, output: "" };
  const wanted = contentHash(paths);
  if (builtFrom === wanted) {
    writeStamp(`${wanted} ${times}`);
    return { ok: true, output: "" };
  }
  // Others may build at the same time, which Vite would reject, and a server may be reading the page.
  const next = join(home, `dist/.app-next-${process.pid}`);
  const previous = join(home, `dist/.app-previous-${process.pid}`);
  const args = ["build", "app", "--bypass-lock", "--logLevel=warn", `--outDir=${next}`, "--emptyOutDir"];
  const result = await run(process.execPath, [join(root, "node_modules/vite/bin/vite.js"), ...args], { cwd: home });
  if (!result.ok) return result;
  renamed(page, previous);
  renamed(next, page);
  for (const left of [next, previous]) rmSync(left, { recursive: true, force: true });
  writeStamp(`${wanted} ${times}`);
  return result;
}

/** Written as a whole: others may read it. @param {string} text */
function writeStamp(text) {
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(`${stamp}-${process.pid}`, text);
  renameSync(`${stamp}-${process.pid}`, stamp);
}

/** @param {string} from @param {string} to */
function renamed(from, to) {
  try {
    renameSync(from, to);
  } catch {} // none yet, or another process was faster
}

const [, script, entry, ...args] = process.argv;
if (script === import.meta.filename && entry !== undefined) {
  const serves = ["start", "front-proxy"].includes(args[0] ?? "");
  const built = serves ? ensureConsole() : Promise.resolve({ ok: true, output: "" });
  void built.then(({ ok, output }) => {
    if (!ok) console.error(`The page of the console cannot be built:\n${output}`);
  });
  const path = resolve(root, entry);
  process.argv.splice(1, process.argv.length - 1, path, ...args);
  await import(pathToFileURL(path).href);
}
