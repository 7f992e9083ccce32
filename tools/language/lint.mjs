// Why: textlint's kernel without its command line, so that the rules are ours, in this folder, and results are kept by content: an unchanged file costs a hash.
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TextlintKernel } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import * as rules from "./rules.mjs";
import { typescriptPlugin } from "./typescript.mjs";

export const home = dirname(fileURLToPath(import.meta.url));

const STORE = join(home, "node_modules/.cache/language.json");

/** @typedef {{ line: number, column: number, rule: string, level: "error" | "warning", message: string }} Result */
/** @typedef {Result & { file: string }} Finding */

const warning = { severity: "warning" };
const error = { severity: "error" };

/** @param {import("./spelling.mjs").Speller} speller @param {any} spelling */
const configured = (speller, spelling) => [
  { ruleId: "glossary", rule: rules.glossary, options: error },
  { ruleId: "riddle", rule: rules.riddle, options: error },
  { ruleId: "sentence-length", rule: rules.sentenceLength, options: error },
  { ruleId: "long-sentence", rule: rules.longSentence, options: warning },
  { ruleId: "weasel-opening", rule: rules.weaselOpening, options: error },
  { ruleId: "product-name", rule: rules.productNames, options: error },
  { ruleId: "table-cell", rule: rules.tableCell, options: error },
  { ruleId: "long-table-cell", rule: rules.longTableCell, options: warning },
  { ruleId: "json-in-echo", rule: rules.jsonInEcho, options: error },
  { ruleId: "spelling", rule: spelling, options: { ...error, speller } },
];

const plugins = [
  { pluginId: "markdown", plugin: /** @type {any} */ (markdown).default ?? markdown },
  { pluginId: "typescript", plugin: typescriptPlugin },
];

/** Changes with every rule, word and library: results of another version are not ours. */
function version() {
  const hash = createHash("sha256").update(process.version);
  for (const file of globSync("{*.mjs,words.txt,quoted.txt,package-lock.json}", { cwd: home }).sort())
    hash.update(readFileSync(join(home, file)));
  return hash.digest("hex");
}

/** Results that are kept, by content. A file of another version, or one that a killed process left, counts as none. */
function readCache() {
  const own = version();
  try {
    const kept = JSON.parse(readFileSync(STORE, "utf8"));
    if (kept.version === own) return kept;
  } catch {}
  return { version: own, results: {} };
}

/** Written whole or not at all, since several checks may run at once. @param {any} kept */
function writeCache(kept) {
  mkdirSync(dirname(STORE), { recursive: true });
  const draft = `${STORE}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(kept));
  renameSync(draft, STORE);
}

/** @returns {Promise<(file: string, text: string) => Promise<Result[]>>} */
async function linter() {
  const { loadSpeller, spelling } = await import("./spelling.mjs");
  const kernel = new TextlintKernel();
  const ruleSet = configured(await loadSpeller(), spelling);
  return async (file, text) => {
    const { messages } = await kernel.lintText(text, { ext: extname(file), filePath: file, rules: ruleSet, plugins });
    return messages.map(({ line, column, ruleId, severity, message }) => ({
      line,
      column,
      rule: ruleId,
      level: severity === 2 ? "error" : "warning",
      message,
    }));
  };
}

/** @param {{ file: string, path: string }[]} files `file` is the name that findings and rules see @returns {Promise<Finding[]>} */
export async function lint(files) {
  const kept = readCache();
  /** @type {Record<string, Result[]>} */
  const used = {};
  let run;
  const findings = [];
  for (const { file, path } of files) {
    const text = readFileSync(path, "utf8");
    const key = createHash("sha256")
      .update(`${kindOf(file)}\n${text}`)
      .digest("base64url");
    const known = kept.results[key];
    if (known === undefined) run ??= await linter();
    used[key] = known ?? (await /** @type {any} */ (run)(file, text));
    for (const result of used[key]) findings.push({ file, ...result });
  }
  // A run over everything drops what no file has any more.
  const results = files.length > 1000 ? used : { ...kept.results, ...used };
  if (run !== undefined) writeCache({ ...kept, results });
  return findings;
}

/** What rules know of a file's place: its results are the same wherever it lies. @param {string} file */
const kindOf = (file) => `${extname(file)}:${/(^|\/)test\//.test(file)}`;
