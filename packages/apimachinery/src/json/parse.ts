import { MOST_TEXT } from "./bounded.ts";
import { readExact, rejectJson } from "./exact.ts";
import { endOfString, type JsonLimits, nameAt, scanJson } from "./scan.ts";

/** Parsed JSON text. */
export interface ParsedJson {
  /** 64-bit integers beyond 2^53 are `bigint`, so that no digit is lost. */
  readonly value: unknown;
  /** Paths of duplicate members (the last one counts): `spec.ports[0].name`. The first hundred, fewer if very long. */
  readonly duplicates: readonly string[];
}

/** Maximum nesting of objects and arrays. Kubernetes allows 10,000; code that walks a tree here is recursive. */
export const MAX_JSON_DEPTH = 1_000;

/**
 * Parses JSON without losing integers, and finds duplicate names.
 *
 * @throws SyntaxError for invalid JSON, in Kubernetes' words and with the position; for nesting deeper than {@link
 * MAX_JSON_DEPTH}; for numbers beyond the range of a double
 * @throws RangeError beyond `limits`, before it parses the text
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
    return rejectJson(text);
  }
}

/** Like {@link parseJson}, for JSON that this library wrote, which has no duplicates. */
export function parseOwnJson(text: string): unknown {
  return LONG_NUMBER.test(text) ? readExact(text) : JSON.parse(text);
}

/** May also match within a string, which costs time but changes no result. */
const LONG_NUMBER = /[:,[]-?\d{16}/;

/** Encodes a value as JSON, with exact integers beyond 2^53. @throws TypeError for a cycle */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_name, member: unknown) => (typeof member === "bigint" ? rawJson(member) : member));
  }
}

/** ECMAScript's `JSON.rawJSON`, which TypeScript does not declare yet. */
function rawJson(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString());
}

const SURROGATE = /\\u[dD][89a-fA-F]/;
const PAIR = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/y;
const HALF = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}/y;

/** Makes the strings of a JSON text valid UTF-8: a lone surrogate becomes U+FFFD, as in Go. */
function wellFormed(text: string): string {
  if (!SURROGATE.test(text)) return text;
  const pieces: string[] = [];
  let from = 0;
  // From one escape sequence to the next, so that no match begins within another escape.
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at)) {
    const mayBeSurrogate = text[at + 1] === "u" && (text[at + 2] === "d" || text[at + 2] === "D");
    if (mayBeSurrogate && matches(PAIR, text, at)) at += 12;
    else if (mayBeSurrogate && matches(HALF, text, at)) {
      pieces.push(text.slice(from, at), "\\ufffd");
      at += 6;
      from = at;
    } else at += 2;
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(from);
}

function matches(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** Maximum number of duplicates, as in Kubernetes. */
const MAX_DUPLICATES = 100;

interface OpenContainer {
  /** Current position: the beginning and end of a member's name, or the index of an element. */
  from: number;
  end: number;
  index: number;
}

/**
 * Returns the paths of the members that begin at `places`, in Kubernetes' form: `spec.ports[0].name`. No duplicates, a
 * hundred at most, and fewer if they are very long.
 */
function memberPaths(text: string, places: readonly number[]): string[] {
  const found = new Set<string>();
  const levels: OpenContainer[] = [];
  let next = 0;
  let effort = 0;
  for (let at = 0; at < text.length && next < places.length; at++) {
    const unit = text[at];
    const level = levels.at(-1);
    if (unit === '"') {
      const end = endOfString(text, at);
      // A string value overwrites the name of its member, which is no longer needed.
      if (level !== undefined && level.index === -1) [level.from, level.end] = [at, end];
      if (at === places[next]) {
        next += 1;
        const path = memberPath(text, levels);
        found.add(path);
        effort += path.length + levels.length;
        if (found.size >= MAX_DUPLICATES || effort >= MOST_TEXT) break;
      }
      at = end;
    } else if (unit === "{") levels.push({ from: at, end: at, index: -1 });
    else if (unit === "[") levels.push({ from: at, end: at, index: 0 });
    else if (unit === "}" || unit === "]") levels.pop();
    else if (unit === "," && level !== undefined && level.index !== -1) level.index += 1;
  }
  return [...found];
}

function memberPath(text: string, levels: readonly OpenContainer[]): string {
  let path = "";
  for (const { from, end, index } of levels) {
    if (index !== -1) path += `[${index}]`;
    else path += path === "" ? nameAt(text, from, end) : `.${nameAt(text, from, end)}`;
  }
  return path;
}
