// Why: layers, cycles and small files are all questions about which file imports which; the answer is read once, here.
import { globSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

/** Import and export declarations begin at column 0 in formatted code, so examples in comments are not matched. */
const DECLARATION =
  /^(?<clause>import\b(?:[^"']*?\bfrom)?|export\s+(?:type\s+)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s*from)\s*["'](?<specifier>[^"'\n]+)["']/gm;
const DYNAMIC = /^(?!\s*(?:\*|\/\/)).*?\bimport\(\s*["'](?<specifier>[^"'\n]+)["']/gm;

/** @typedef {{ specifier: string, isType: boolean }} Import */
/** A file of a package: its path below `src`, its number of lines, and what it imports. @typedef {{ path: string, lines: number, imports: Import[] }} Source */

/** Whether the declaration leaves nothing behind when types are stripped: `import type …`, or only `type` names. @param {string} clause */
function isType(clause) {
  if (/^(?:import|export)\s+type\b/.test(clause)) return true;
  const names = /\{([^}]*)\}/.exec(clause)?.[1];
  const others = clause.replace(/\{[^}]*\}/, "").replace(/\b(?:import|export|from)\b|[\s,]/g, "");
  return names !== undefined && others === "" && names.split(",").every((name) => /^\s*(?:type\s|$)/.test(name));
}

/** The imports of a file's text. @param {string} text @returns {Import[]} */
export function importsOf(text) {
  const declared = [...text.matchAll(DECLARATION)].map(({ groups = {} }) => ({
    specifier: String(groups["specifier"]),
    isType: isType(String(groups["clause"])),
  }));
  const dynamic = [...text.matchAll(DYNAMIC)].map(({ groups = {} }) => ({
    specifier: String(groups["specifier"]),
    isType: false,
  }));
  return [...declared, ...dynamic];
}

/** Every source file of a package. @param {string} home the folder of its package.json @returns {Source[]} */
export function sourcesOf(home) {
  return globSync("src/**/*.ts", { cwd: home })
    .sort()
    .map((file) => {
      const text = readFileSync(join(home, file), "utf8");
      return {
        path: relative("src", file).split(sep).join("/"),
        lines: text.trimEnd().split("\n").length,
        imports: importsOf(text),
      };
    });
}

/** One file imports another of its package; `isType` when every such import is of types alone. @typedef {{ from: string, to: string, isType: boolean }} Arrow */

/** The imports between the files of one package, one for each pair. @param {Source[]} sources @returns {Arrow[]} */
export function arrowsOf(sources) {
  /** @type {Map<string, Arrow>} */
  const arrows = new Map();
  const known = new Set(sources.map(({ path }) => path));
  for (const { path: from, imports } of sources)
    for (const { specifier, isType } of imports) {
      if (!specifier.startsWith(".")) continue;
      const to = resolve("/", from, "..", specifier).slice(1);
      if (!known.has(to) || to === from) continue;
      const arrow = arrows.get(`${from} ${to}`);
      arrows.set(`${from} ${to}`, { from, to, isType: isType && (arrow?.isType ?? true) });
    }
  return [...arrows.values()];
}

/** Groups of files that reach each other, each sorted (Tarjan's strongly connected components). @param {Arrow[]} arrows @returns {string[][]} */
export function cyclesOf(arrows) {
  /** @type {Map<string, string[]>} */
  const next = new Map();
  for (const { from, to } of arrows) next.set(from, [...(next.get(from) ?? []), to]);
  /** @type {Map<string, { index: number, low: number, open: boolean }>} */
  const seen = new Map();
  /** @type {string[]} */
  const stack = [];
  /** @type {string[][]} */
  const cycles = [];
  /** @param {string} file */
  const visit = (file) => {
    const own = { index: seen.size, low: seen.size, open: true };
    seen.set(file, own);
    stack.push(file);
    for (const to of next.get(file) ?? []) {
      const other = seen.get(to) ?? visit(to);
      if (other.open) own.low = Math.min(own.low, other.low);
    }
    if (own.low !== own.index) return own;
    const members = stack.splice(stack.lastIndexOf(file));
    for (const member of members) Object.assign(/** @type {object} */ (seen.get(member)), { open: false });
    if (members.length > 1) cycles.push(members.sort());
    return own;
  };
  for (const file of next.keys()) if (!seen.has(file)) visit(file);
  return cycles;
}
