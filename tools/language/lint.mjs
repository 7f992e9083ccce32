// Why: textlint's kernel without its command line, so that the rules are ours, in this folder, and results are kept by content: an unchanged file costs a hash.
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TextlintKernel } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import * as rules from "./rules.mjs";
import { typescriptPlugin } from "./typescript.mjs";

export const home = dirname(fileURLToPath(import.meta.url));

/** @typedef {{ file: string, line: number, column: number, rule: string, level: "error" | "warning", message: string }} Finding */

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

/** @param {{ file: string, path: string }[]} files `file` is the name that findings and rules see @param {{ cache?: boolean }} [options] @returns {Promise<Finding[]>} */
export async function lint(files, { cache = true } = {}) {
  const store = join(home, "node_modules/.cache/language.json");
  const own = version();
  const kept = cache && existsSync(store) ? JSON.parse(readFileSync(store, "utf8")) : {};
  /** @type {Record<string, Omit<Finding, "file">[]>} */
  const results = kept.version === own ? kept.results : {};
  const kernel = new TextlintKernel();
  /** @type {any[] | undefined} */
  let ruleSet;
  let added = 0;
  /** @type {Finding[]} */
  const findings = [];
  for (const { file, path } of files) {
    const text = readFileSync(path, "utf8");
    const key = createHash("sha256")
      .update(`${kindOf(file)}\n${text}`)
      .digest("hex")
      .slice(0, 32);
    let found = results[key];
    if (found === undefined) {
      if (ruleSet === undefined) {
        const { loadSpeller, spelling } = await import("./spelling.mjs");
        ruleSet = configured(await loadSpeller(), spelling);
      }
      const { messages } = await kernel.lintText(text, { ext: extname(file), filePath: file, rules: ruleSet, plugins });
      found = messages.map(({ line, column, ruleId, severity, message }) => ({
        line,
        column,
        rule: ruleId,
        level: severity === 2 ? "error" : "warning",
        message,
      }));
      results[key] = found;
      added++;
    }
    for (const one of found) findings.push({ file, ...one });
  }
  if (cache && added > 0) {
    mkdirSync(dirname(store), { recursive: true });
    writeFileSync(store, JSON.stringify({ version: own, results }));
  }
  return findings;
}

/** What rules know of a file's place: its results are the same wherever it lies. @param {string} file */
const kindOf = (file) => `${extname(file)}:${/(^|\/)test\//.test(file)}`;
