import { parseJson, parseOwnJson } from "../json/parse.ts";
import { compareUtf8, isJsonObject, type JsonObject, memberOf, sortedUtf8 } from "../json/value.ts";
import { goValue, iteratorJson, quote } from "../text/go-format.ts";

/**
 * List element in a path, as FieldsV1 writes it: `k:{"name":"a"}` by its keys, `v:"a"` by its value, `i:0` by its index.
 * Always in Kubernetes' canonical form, so that elements are equal if their texts are.
 */
export type ListElement = string;

/** Returns the list element with these keys, sorted by name. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): ListElement {
  let text = "";
  for (const [name, value] of keys) text += `${text === "" ? "" : ","}${iteratorJson(name)}:${iteratorJson(value)}`;
  return `k:{${text}}`;
}

/** Returns the set element with this value. */
export function valueElement(value: unknown): ListElement {
  return `v:${iteratorJson(value)}`;
}

const INTEGER = /^[+-]?\d{1,15}$/;

const VALUE = String.raw`(?:"[\w./:-]*"|0|-?[1-9]\d{0,14}|true|false)`;

/** Matches texts that are surely canonical: a value, or one or two keys, of plain text and short numbers. */
const PLAIN = new RegExp(String.raw`^(?:v:${VALUE}|k:\{"([\w./-]+)":${VALUE}(?:,"([\w./-]+)":${VALUE})?\})$`);

function isPlain(text: string): boolean {
  const match = PLAIN.exec(text);
  return match !== null && (match[2] === undefined || (match[1] ?? "") < match[2]);
}

/** Converts an element that another party wrote into canonical form. Returns undefined for an unknown kind. @throws SyntaxError */
export function readListElement(text: string): ListElement | undefined {
  if (isPlain(text)) return text;
  const rest = text.slice(2);
  switch (text[0]) {
    case "v":
      return valueElement(parseJson(rest).value);
    case "k": {
      const keys = parseJson(rest).value;
      if (!isJsonObject(keys)) throw new SyntaxError("invalid list element: its keys must be a JSON object");
      return `k:${iteratorJson(keys)}`;
    }
    case "i":
      if (!INTEGER.test(rest)) throw new SyntaxError("invalid list element: its index must be an integer");
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

/** Formats an element for messages: `[name="a"]`, `[="a"]`, `[0]`. */
export function formatListElement(element: ListElement): string {
  const rest = element.slice(2);
  if (element.startsWith("i:")) return `[${rest}]`;
  const value = parseOwnJson(rest);
  if (element.startsWith("v:") || !isJsonObject(value)) return `[=${formatKey(value)}]`;
  const keys = sortedUtf8(Object.keys(value));
  return `[${keys.map((name) => `${name}=${formatKey(value[name])}`).join(",")}]`;
}

function formatKey(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(formatKey).join(",")}]`;
  if (!isJsonObject(value)) return goValue(value);
  return sortedUtf8(Object.keys(value))
    .map((name) => `${name}=${formatKey(value[name])}`)
    .join("");
}

/** Sorts elements in Go's order: by keys, then by value, then by index. Values compare as in `compareValues`. */
export function sortListElements(elements: readonly ListElement[]): ListElement[] {
  return inOrderOfText(elements) ? sortedUtf8(elements) : sortByValue(elements);
}

const TEXTUAL = /^(v:|k:\{"[\w./-]+":)"[\w./:-]*"\}?$/;

/** Whether all elements are plain texts, or all have one plain text as key: their encoded forms then sort like their values. */
function inOrderOfText(elements: readonly ListElement[]): boolean {
  let first: string | undefined;
  for (const element of elements) {
    const kind = TEXTUAL.exec(element)?.[1];
    first ??= kind;
    if (kind === undefined || kind !== first) return false;
  }
  return true;
}

function sortByValue(elements: readonly ListElement[]): ListElement[] {
  const read = Array.from(elements, (element) => ({ element, value: parseOwnJson(element.slice(2)) }));
  read.sort((a, b) => {
    const kinds = KINDS.indexOf(a.element.charAt(0)) - KINDS.indexOf(b.element.charAt(0));
    return kinds === 0 ? compareValues(a.value, b.value) : kinds;
  });
  return read.map(({ element }) => element);
}

const KINDS = "kvi";

/** Orders values of any type: numbers, texts, booleans, lists, objects, null. */
function compareValues(a: unknown, b: unknown): number {
  const ranks = rankOf(a) - rankOf(b);
  if (ranks !== 0) return ranks;
  if (typeof a === "string" && typeof b === "string") return compareUtf8(a, b);
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b);
  if (isJsonObject(a) && isJsonObject(b)) return compareObjects(a, b);
  return compareScalars(a as number, b as number);
}

/** Numbers (`bigint` too) and booleans compare with `<`. */
function compareScalars(a: number, b: number): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const order = compareValues(a[at], b[at]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareObjects(a: JsonObject, b: JsonObject): number {
  const left = sortedUtf8(Object.keys(a));
  const right = sortedUtf8(Object.keys(b));
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [name = "", other = ""] = [left[at], right[at]];
    const order = compareUtf8(name, other) || compareValues(memberOf(a, name), memberOf(b, other));
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function rankOf(value: unknown): number {
  if (typeof value === "number" || typeof value === "bigint") return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}
