import { memberPaths } from "./duplicates.ts";
import { readExact, refuseJson } from "./exact.ts";
import { type JsonLimits, scanJson } from "./scan.ts";
import { wellFormed } from "./well-formed.ts";

/** A JSON text, read. */
export interface ParsedJson {
  /** Integers of 64 bits beyond 2^53 are `bigint`, so that nothing is lost. */
  readonly value: unknown;
  /** The paths of members given more than once (the last one counts): `spec.ports[0].name`. The first hundred, fewer when very long. */
  readonly duplicates: readonly string[];
}

/** How deep objects and arrays may stand in one another. Kubernetes allows 10,000; what walks a tree here recurs. */
export const MAX_JSON_DEPTH = 1_000;

/**
 * Reads JSON without losing integers, and finds the names that were given twice.
 *
 * @throws SyntaxError on what is no JSON, in Kubernetes' words and with the place; on nesting deeper than
 *   {@link MAX_JSON_DEPTH} and on numbers beyond the range of a double
 * @throws RangeError beyond `limits`, before it is read
 */
export function parseJson(source: string, limits?: JsonLimits): ParsedJson {
  const text = wellFormed(source);
  const { depth, duplicates, longNumbers } = scanJson(text, limits);
  if (depth > MAX_JSON_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
  const value = longNumbers ? readExact(text) : parsed(text);
  return { value, duplicates: duplicates.length === 0 ? [] : memberPaths(text, duplicates) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuseJson(text);
  }
}

/** As {@link parseJson}, for JSON that was written here: nothing is given twice. */
export function parseOwnJson(text: string): unknown {
  return LONG_NUMBER.test(text) ? readExact(text) : JSON.parse(text);
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

/** ECMAScript's `JSON.rawJSON`, which TypeScript does not know yet. */
function rawJson(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString());
}
