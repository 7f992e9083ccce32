import type { Path } from "../yaml/parse.ts";

/** Where the cursor is in a YAML text, found by indentation: the text need not be valid while it is typed. */
export interface Place {
  /** Path of the map that the cursor is in. */
  readonly parent: Path;
  /** The key whose value is typed; undefined while a key is typed. */
  readonly key?: string;
  /** Text of the key or the value before the cursor. */
  readonly typed: string;
  /** Keys that the map has already. */
  readonly siblings: ReadonlySet<string>;
  /** Column of the keys of the map. */
  readonly indent: number;
}

interface Line {
  /** Column of the key, after hyphens. */
  readonly column: number;
  /** Columns of the hyphens before it. */
  readonly hyphens: readonly number[];
  readonly key?: string;
  readonly isEmpty: boolean;
}

const LINE = /^(\s*)((?:-\s+|-$)*)(?:("[^"]*"|'[^']*'|[^\s:#][^:]*?)\s*:(?=\s|$))?(.*)$/;

function parseLine(text: string): Line {
  const [, spaces = "", marks = "", key, rest = ""] = LINE.exec(text) ?? [];
  const hyphens = [...marks.matchAll(/-/g)].map(({ index }) => spaces.length + index);
  const name = key?.replace(/^(["'])(.*)\1$/, "$2");
  const isEmpty = key === undefined && marks === "" && (rest.trim() === "" || rest.trim().startsWith("#"));
  return { column: spaces.length + marks.length, hyphens, isEmpty, ...(name !== undefined && { key: name }) };
}

/** The place of a cursor in `lines[row]`, with `before` the text of the line up to it. */
export function placeAt(lines: readonly string[], row: number, before: string): Place | undefined {
  if (before.trimStart().startsWith("#")) return undefined;
  const value = /^(\s*(?:-\s+)*)("[^"]*"|'[^']*'|[^\s:#][^:]*?)\s*:\s+(\S*)$/.exec(before);
  const typedKey = /^(\s*(?:-\s+)*)([\w./-]*)$/.exec(before);
  const found = value ?? typedKey;
  if (found === null) return undefined;
  const [, lead = ""] = found;
  const own = parseLine(`${lead}x:`);
  const { path, siblings } = ancestors(lines, row, own);
  if (value === null) return { parent: path, typed: found[2] ?? "", siblings, indent: own.column };
  const key = (value[2] ?? "").replace(/^(["'])(.*)\1$/, "$2");
  return { parent: path, key, typed: value[3] ?? "", siblings, indent: own.column };
}

function ancestors(lines: readonly string[], row: number, own: Line): { path: Path; siblings: Set<string> } {
  const path: (string | number)[] = [];
  const siblings = new Set<string>();
  let column = own.column;
  let item = own.hyphens.at(-1);
  collectBelow(lines, row, { column, siblings });
  for (let index = row - 1; index >= 0; index--) {
    const line = parseLine(lines[index] ?? "");
    if (line.isEmpty) continue;
    const isInItem = item !== undefined;
    if (!isInItem && line.column === column) {
      if (path.length === 0 && line.key !== undefined) siblings.add(line.key);
      item = line.hyphens.at(-1);
      continue;
    }
    // A list may be as far left as the key that it belongs to.
    const isOwner = line.key !== undefined && (isInItem ? line.column <= (item ?? 0) : line.column < column);
    if (!isOwner) continue;
    if (isInItem) path.unshift(0);
    path.unshift(line.key ?? "");
    column = line.column;
    item = line.hyphens.at(-1);
  }
  return { path, siblings };
}

function collectBelow(
  lines: readonly string[],
  row: number,
  { column, siblings }: { readonly column: number; readonly siblings: Set<string> },
): void {
  for (let index = row + 1; index < lines.length; index++) {
    const line = parseLine(lines[index] ?? "");
    if (line.isEmpty) continue;
    if (line.column < column || line.hyphens.length > 0) return;
    if (line.column === column && line.key !== undefined) siblings.add(line.key);
  }
}
