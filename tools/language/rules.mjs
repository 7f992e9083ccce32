// Why: the rules of docs/explanation/how-we-write.md that a program can check, for textlint. No ready rule reads TypeScript's blocks, counts words with
// inline code as one, or knows the glossary. Each message says what is wrong, then what to write.
import { BLOCKS, proseOf, sentencesOf, wordsIn } from "./prose.mjs";
import { PRODUCTS, TERMS, WEASEL } from "./terms.mjs";

/** @typedef {(prose: import("./prose.mjs").Prose, fault: (index: number, length: number, message: string) => void) => void} ProseRule */

/** A textlint rule that reads the running text of each block. @param {ProseRule} check */
function proseRule(check) {
  return (/** @type {any} */ context) => {
    const { RuleError, locator, report, getSource } = context;
    const visit = (/** @type {any} */ node) => {
      const prose = proseOf(node, getSource());
      check(prose, (index, length, message) => {
        const from = prose.at[index] ?? 0;
        const to = Math.max(from + 1, (prose.at[index + length - 1] ?? from) + 1);
        report(node, new RuleError(message, { padding: locator.range([from, to]) }));
      });
    };
    return Object.fromEntries(BLOCKS.map((type) => [type, visit]));
  };
}

/** Words of the glossary's "not" column. */
export const glossary = proseRule(({ text }, fault) => {
  const taken = new Set();
  for (const { pattern, use, why } of TERMS)
    for (const match of text.matchAll(new RegExp(pattern, "gi"))) {
      if (match.index === undefined || taken.has(match.index)) continue;
      taken.add(match.index);
      fault(match.index, match[0].length, `"${match[0]}": ${use}${why ? ` (${why})` : ""}`);
    }
});

/** Two clauses that each stand for a thing, a few words apart. Enumerations and what "and" joins are fine. */
const RIDDLE =
  /\b(what|whatever|whoever|whom|those (?:that|which|who)|that (?:which|what|of))\b((?:\s+(?!and\b|or\b|nor\b|not\b|but\b|than\b)[^\s,;:.?]+){0,8}?\s+)(what|whoever|whom|those (?:that|which|who)|that (?:which|what|of))\b(?! if\b)/gi;

/** Clauses of clauses ("what a view takes of what says who asks"): the reader has to guess what each stands for. */
export const riddle = proseRule(({ text, node }, fault) => {
  if (node.type === "TableCell") return;
  for (const { 0: all, 1: first = "", 3: second = "", index } of text.matchAll(RIDDLE))
    fault(
      index + all.length - second.length,
      second.length,
      `"${first}" and "${second}" in one clause: name the things`,
    );
});

/** @param {(words: number) => string | undefined} judge */
const lengthRule = (judge) =>
  proseRule(({ text }, fault) => {
    for (const { text: whole, index } of sentencesOf(text))
      for (const sentence of whole.split(/\n/)) {
        const words = wordsIn(sentence);
        const message = judge(words);
        const lead = sentence.length - sentence.trimStart().length;
        if (message !== undefined) fault(index + whole.indexOf(sentence) + lead, 1, message);
      }
  });

const WARN_WORDS = 30;
const MAX_WORDS = 45;

/** Sentences that must be split. */
export const sentenceLength = lengthRule((words) =>
  words > MAX_WORDS ? `sentence of ${words} words: split it (${MAX_WORDS} at most, about 20 is good)` : undefined,
);

/** Sentences that should be split. */
export const longSentence = lengthRule((words) =>
  words > WARN_WORDS && words <= MAX_WORDS
    ? `sentence of ${words} words: split it if you can (about 20 is good)`
    : undefined,
);

/** Docstrings, help texts and titles of tests that begin with a pronoun. */
export const weaselOpening = proseRule(({ text, node }, fault) => {
  const match = node.opening || node.kind === "title" ? WEASEL.exec(text) : null;
  if (match === null) return;
  const word = match[0].trim();
  const begin =
    node.kind === "title" ? "a verb (it) or a name (describe)" : "a noun phrase or a verb that says what it is or does";
  fault(match[0].length - match[0].trimStart().length, word.length, `opens with "${word}": begin with ${begin}`);
});

/** No letter, quotation mark or part of a path may touch a name: it would be part of an identifier. */
const NAMES = [...PRODUCTS.keys()].map((name) => name.replace(/[.]/g, "\\.")).sort((a, b) => b.length - a.length);
const PRODUCT = new RegExp(
  `(?<![\\w./@:=$"'“\`~\\uFFFC-])(${NAMES.join("|")})(?![\\w/@=("'”\`\\uFFFC-]|:\\S|\\.\\w)`,
  "gi",
);

/** Names of products in the spelling of their makers. A message may begin with the name of a field ("url: …"), so acronyms are free there. */
export const productNames = proseRule(({ text, node }, fault) => {
  for (const match of text.matchAll(PRODUCT)) {
    const right = PRODUCTS.get(match[0].toLowerCase());
    if (right === undefined || right === match[0]) continue;
    if (node.kind === "message" && right.toUpperCase().startsWith(right.replace(/s$/, ""))) continue;
    fault(match.index, match[0].length, `"${match[0]}": write "${right}"`);
  }
});

/** @param {(length: number) => string | undefined} judge */
const cellRule = (judge) => (/** @type {any} */ context) => ({
  TableCell(/** @type {any} */ node) {
    const shown = context
      .getSource(node)
      .replace(/\]\([^)]*\)/g, "]")
      .trim();
    const message = judge(shown.replace(/^\||\|$/g, "").trim().length);
    if (message !== undefined) context.report(node, new context.RuleError(message));
  },
});

const WARN_CELL = 120;
const MAX_CELL = 300;

/** Table cells that must be sections. */
export const tableCell = cellRule((length) =>
  length > MAX_CELL
    ? `table cell of ${length} characters: make it a section (${MAX_CELL} at most, 120 is good)`
    : undefined,
);

/** Table cells that should be shorter. */
export const longTableCell = cellRule((length) =>
  length > WARN_CELL && length <= MAX_CELL
    ? `table cell of ${length} characters: shorten it, or make it a section`
    : undefined,
);

/** Manifests are YAML files, not JSON in an `echo`. */
export const jsonInEcho = (/** @type {any} */ context) => ({
  CodeBlock(/** @type {any} */ node) {
    const { RuleError, locator, report, getSource } = context;
    for (const match of getSource(node).matchAll(/\b(echo|printf)\s+(-\w+\s+)*\\?['"]?\s*[{[]\s*\\?["']/g))
      report(
        node,
        new RuleError(`JSON in ${match[1]}: show a YAML file and apply it with kubectl apply -f`, {
          padding: locator.range([match.index, match.index + match[0].length]),
        }),
      );
  },
});
