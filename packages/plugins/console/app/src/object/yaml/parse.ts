import { type Document, isMap, isPair, isScalar, isSeq, type Node, parseAllDocuments } from "yaml";
import { yamlTexts } from "../editor/texts.ts";
import { isFields } from "./object-text.ts";

/** Step from a value to one in it: the key of a field, or the index of an item. */
export type Path = readonly (string | number)[];

/** A problem in a text, from one offset to another. */
export interface TextProblem {
  readonly from: number;
  readonly to: number;
  readonly severity: "error" | "warning";
  readonly message: string;
}

export interface ParsedText {
  readonly document?: Document.Parsed;
  /** The object, if the text is one. */
  readonly value?: Record<string, unknown>;
  readonly problems: readonly TextProblem[];
}

/** Parses the YAML of one object. Several documents and other values are problems. */
export function parseText(text: string): ParsedText {
  const documents = parseAllDocuments(text, { intAsBigInt: true, prettyErrors: false });
  const all = Array.isArray(documents) ? documents : [];
  const filled = all.filter(({ contents }) => contents !== null);
  const [first, second] = filled;
  if (first === undefined) return { problems: [whole(text, yamlTexts.empty)] };
  if (second !== undefined) {
    const from = second.contents?.range?.[0] ?? second.range?.[0] ?? 0;
    const end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end;
    return { problems: [{ from, to, severity: "error", message: yamlTexts.several(filled.length) }] };
  }
  const problems = [...first.errors, ...first.warnings].map(
    ({ pos: [from, to], message, name }): TextProblem => ({
      from: Math.min(from, text.length),
      to: Math.min(Math.max(to, from), text.length),
      severity: name === "YAMLWarning" ? "warning" : "error",
      message,
    }),
  );
  if (first.errors.length > 0) return { document: first, problems };
  let value: unknown;
  try {
    value = exactValue(first);
  } catch (error) {
    // Aliases without end.
    return { document: first, problems: [whole(text, String(error))] };
  }
  if (!isFields(value)) return { document: first, problems: [whole(text, yamlTexts.notObject)] };
  return { document: first, value, problems };
}

/** The value of a document, with bigints only for integers that numbers would round. */
function exactValue(document: Document.Parsed): unknown {
  return document.toJS({
    reviver: (_: unknown, value: unknown) =>
      typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value,
  });
}

const whole = (text: string, message: string): TextProblem => ({
  from: 0,
  to: Math.max(0, text.indexOf("\n")) || text.length,
  severity: "error",
  message,
});

/** Range of a field: of its key if the parent has it, else of the nearest parent that is there. */
export function rangeOf(document: Document.Parsed, path: Path): { readonly from: number; readonly to: number } {
  let node: unknown = document.contents;
  let range = keyRange(node) ?? [0, 0];
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) break;
      range = keyRange(pair.key) ?? range;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(step)];
      if (item === undefined) break;
      node = isPair(item) ? item.value : item;
      range = keyRange(node) ?? range;
    } else break;
  }
  return { from: range[0], to: range[1] };
}

function keyRange(node: unknown): [number, number] | undefined {
  const range = (node as Node | null | undefined)?.range;
  return range ? [range[0], range[1]] : undefined;
}
