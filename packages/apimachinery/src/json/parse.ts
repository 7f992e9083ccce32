import { duplicateMembers } from "./duplicates.ts";
import { scanJson } from "./scan.ts";
import { isJsonObject } from "./value.ts";

/** A JSON text, read. */
export interface ParsedJson {
  /** Integers of 64 bits beyond 2^53 are `bigint`, so that nothing is lost. */
  readonly value: unknown;
  /** The paths of members given more than once (the last one counts): `spec.ports[0].name`. */
  readonly duplicates: readonly string[];
}

/** How deep objects and arrays may stand in one another. Kubernetes allows 10,000; what walks a tree here recurs. */
export const MAX_JSON_DEPTH = 1_000;

/**
 * Reads JSON without losing integers, and finds the names that were given twice.
 *
 * @throws SyntaxError on what is no JSON, on nesting deeper than {@link MAX_JSON_DEPTH} and on numbers beyond the range of
 *   a double
 */
export function parseJson(text: string): ParsedJson {
  const { members, depth, longNumbers } = scanJson(text);
  if (depth > MAX_JSON_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
  const value: unknown = longNumbers ? JSON.parse(text, exactNumber) : JSON.parse(text);
  return { value, duplicates: countMembers(value) < members ? duplicateMembers(text) : [] };
}

/** As {@link parseJson}, for JSON that was written here: nothing is given twice. */
export function parseOwnJson(text: string): unknown {
  return LONG_NUMBER.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
}

/** Within a string it may match as well, which costs time and changes nothing. */
const LONG_NUMBER = /[:,[]-?\d{16}/;

/** JSON as text, integers beyond 2^53 whole. @throws TypeError on a cycle */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_name, member: unknown) => (typeof member === "bigint" ? rawJson(member) : member));
  }
}

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

function exactNumber(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  if (!Number.isFinite(value)) throw new SyntaxError(`number ${source.slice(0, 40)} is out of range`);
  if (!/^-?\d+$/.test(source)) return value;
  const exact = BigInt(source);
  return exact >= MIN_INT64 && exact <= MAX_INT64 ? exact : value;
}

/** ECMAScript's `JSON.rawJSON`, which TypeScript does not know yet. */
function rawJson(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString());
}

function countMembers(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countMembers(item);
  else if (isJsonObject(value)) {
    const names = Object.keys(value);
    count = names.length;
    for (const name of names) count += countMembers(value[name]);
  }
  return count;
}
