// Why: rules read running text, but a sentence may span several nodes and lines of the source. `proseOf` gives one string per block, in which inline code
// is one character, and the position in the source of each of its characters.
import { readFileSync } from "node:fs";

/** Stands for inline code, a placeholder of a template or an image: one word that no rule reads. */
const CODE = "\uFFFC";

/** @param {string} name a file of this folder with an entry a line; `#` begins a comment @returns {string[]} */
export const listIn = (name) =>
  readFileSync(new URL(name, import.meta.url), "utf8")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*/, "").trim())
    .filter(Boolean);

const QUOTED = listIn("quoted.txt");

/** Title of a test at the end of an entry of a reference page: the rules read it in the test. */
const QUOTED_TITLE = /(?<=\b[Tt]ested by \uFFFC )".+"(?=\.$)/;

/** Blocks of running text: what rules visit. */
export const BLOCKS = ["Paragraph", "Header", "TableCell"];

/** @typedef {{ text: string, at: number[], node: any }} Prose `at[i]` is the offset of `text[i]` from the node's start */

/** @param {any} node a block @param {string} source the whole file @returns {Prose} */
export function proseOf(node, source) {
  const start = node.range[0];
  let text = "";
  /** @type {number[]} */
  const at = [];
  let end = start;
  const add = (/** @type {string} */ piece, /** @type {number} */ from, step = 1) => {
    for (let i = 0; i < piece.length; i++) at.push(from - start + i * step);
    text += piece;
  };
  const walk = (/** @type {any} */ child) => {
    // Lines of a comment are nodes of their own: what stands between two of them is a space.
    const gap = at.length > 0 && child.children === undefined ? source.slice(end, child.range[0]) : "";
    if (node.kind !== undefined && !node.escapes && gap.includes("\n")) add(" ", end);
    end = child.range[1];
    if (child.type === "Str") {
      const raw = source.slice(child.range[0], child.range[1]);
      // A line break, with what stands before the next line's text (a quotation mark, an indentation), is one space of the same length.
      const flat = raw.replace(/\r?\n[ \t>]*/g, (b) => " ".repeat(b.length));
      add(
        node.escapes
          ? flat
              .replace(/\\[nrt]/g, "\n ")
              .replace(/\\(?=["`$])/g, " ")
              .replaceAll("\\'", "\u2019\u2019")
          : flat,
        child.range[0],
      );
    } else if (child.type === "Code" || child.type === "Image") add(CODE, child.range[0], 0);
    else if (child.type === "Break") add(" ", child.range[0], 0);
    else for (const inner of child.children ?? []) walk(inner);
  };
  for (const child of node.children) walk(child);
  text = text.replace(QUOTED_TITLE, (all) => CODE.repeat(all.length));
  for (const quoted of QUOTED) text = text.replaceAll(quoted, (all) => CODE.repeat(all.length));
  return { text, at, node };
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** The sentences of a block. @param {string} text @returns {{ text: string, index: number }[]} */
export function sentencesOf(text) {
  const parts = [];
  for (const { segment, index } of segmenter.segment(text)) {
    const last = parts.at(-1);
    // "e.g. Kubernetes" and "vs. Foo" are not ends of sentences.
    if (last !== undefined && /\b(e\.g|i\.e|etc|vs|cf|approx)\.\s*$/.test(last.text)) last.text += segment;
    else parts.push({ text: segment, index });
  }
  return parts;
}

/** How many words a sentence has: inline code and a number are one each. @param {string} sentence */
export const wordsIn = (sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}\uFFFC]/u.test(word)).length;
