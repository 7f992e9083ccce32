// Why: docs, messages, docstrings and titles of tests are written in plain English with Kubernetes' words, and stay so.
// `check.mjs [--all] [--json] [--write-pending] [files or folders]`: see docs/explanation/how-we-write.md.
import { existsSync, globSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, matchesGlob, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { home, lint } from "./lint.mjs";
import { listIn } from "./prose.mjs";

const SCOPE = [
  "docs/**/*.md",
  "{README,CONTRIBUTING,CHANGELOG,SECURITY}.md",
  "packages/*/README.md",
  "packages/plugins/*/README.md",
  "packages/**/src/**/*.ts",
  "test/**/*.ts",
];
/** Generated, recorded, or the text of others. */
const OUT_OF_SCOPE = ["**/{node_modules,dist,generated,fixtures,recorded}/**", "docs/reference/api/**", "**/*.d.ts"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    limit: { type: "string", default: "60" },
    json: { type: "boolean", default: false },
    "write-pending": { type: "boolean", default: false },
    pending: { type: "string", default: join(home, "pending.txt") },
  },
});

if (values["write-pending"] && positionals.length > 0) fail("--write-pending is about all files: name none");
const root = rootOf(process.cwd());
const files = positionals.length === 0 ? inScope() : positionals.flatMap(given);
const pending = existsSync(values.pending) && !values.all ? listIn(pathToFileURL(resolve(values.pending)).href) : [];
const globs = pending.filter((pattern) => /[*?{[]/.test(pattern));
const listed = new Set(pending);
const isPending = (/** @type {string} */ file) => listed.has(file) || globs.some((glob) => matchesGlob(file, glob));
const findings = await lint(files.map((file) => ({ file, path: join(root, file) })));
const errors = findings.filter(({ level }) => level === "error");

if (values["write-pending"]) {
  const rest = [...new Set(errors.map(({ file }) => file))].sort();
  writeFileSync(values.pending, rest.map((file) => `${file}\n`).join(""));
  console.log(`${rest.length} files in ${relative(process.cwd(), values.pending)}`);
} else report();

function report() {
  const shown = findings.filter(({ file }) => !isPending(file));
  const faults = shown.filter(({ level }) => level === "error");
  const warnings = shown.length - faults.length;
  const failing = new Set(errors.map(({ file }) => file));
  const stale = pending.filter((pattern) => {
    if (positionals.length > 0 && !files.includes(pattern)) return false;
    return !(globs.includes(pattern) ? [...failing].some((file) => matchesGlob(file, pattern)) : failing.has(pattern));
  });
  if (values.json) console.log(JSON.stringify({ findings: shown, stale }));
  else {
    const limit = Number(values.limit);
    const order = [...faults, ...shown.filter(({ level }) => level === "warning" && positionals.length > 0)];
    for (const { file, line, column, rule, level, message } of order.slice(0, limit))
      console.log(`${file}:${line}:${column} ${level === "warning" ? "warning: " : ""}${message} (${rule})`);
    if (order.length > limit) console.log(`... and ${order.length - limit} more`);
    for (const pattern of stale)
      console.log(`${basename(values.pending)}: ${pattern} has no error any more: remove it from the list`);
    const skipped = files.filter(isPending).length;
    console.log(
      `language: ${files.length - skipped} files, ${skipped} pending, ${faults.length + stale.length} errors, ${warnings} warnings`,
    );
  }
  process.exitCode = faults.length + stale.length === 0 ? 0 : 1;
}

/** The clone that a folder is in. @param {string} from */
function rootOf(from) {
  for (let dir = from; dir !== dirname(dir); dir = dirname(dir))
    if (existsSync(join(dir, "tools/check.mjs")) || existsSync(join(dir, ".git"))) return dir;
  return from;
}

/** @param {string} [under] */
function inScope(under = "") {
  return globSync(SCOPE, { cwd: root, exclude: ["**/node_modules", "**/dist"] })
    .map((file) => file.split(sep).join("/"))
    .filter((file) => file.startsWith(under) && !OUT_OF_SCOPE.some((pattern) => matchesGlob(file, pattern)))
    .sort();
}

/** A file that is named, or what is in scope of a folder. @param {string} path */
function given(path) {
  const file = relative(root, resolve(path)).split(sep).join("/");
  if (!existsSync(join(root, file))) fail(`${path}: no such file or folder`);
  if (statSync(join(root, file)).isDirectory()) return inScope(file === "" ? "" : `${file}/`);
  if (![".md", ".ts"].includes(extname(file))) fail(`${path}: only .md and .ts files are checked`);
  return [file];
}

/** @param {string} fault @returns {never} */
function fail(fault) {
  console.log(fault);
  process.exit(2);
}
