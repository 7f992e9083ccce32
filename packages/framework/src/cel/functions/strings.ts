import { CelError, codePoints, utf16Index } from "../values/formatted.ts";
import { type LinearPattern, PatternCache } from "../values/pattern.ts";
import type { FunctionSpec } from "./signature.ts";
import { formatText } from "./string-format.ts";

/** Limit of a string that an expression creates, in characters, whatever the cost budget. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** Characters that Go's strings.TrimSpace trims. */
const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** String functions: the standard ones and cel-go's extension version 2. Indexes count code points. */
export const STRINGS: readonly FunctionSpec[] = [
  [".contains(string, string) bool", (text: string, part: string) => text.includes(part)],
  [".endsWith(string, string) bool", (text: string, end: string) => text.endsWith(end)],
  [".startsWith(string, string) bool", (text: string, start: string) => text.startsWith(start)],
  [".charAt(string, int) string", charAt],
  [".indexOf(string, string) int", (text: string, part: string) => indexOf(text, part, 0n)],
  [".indexOf(string, string, int) int", indexOf],
  [
    ".lastIndexOf(string, string) int",
    (text: string, part: string) => lastIndexOf(text, part, BigInt(codePoints(text))),
  ],
  [".lastIndexOf(string, string, int) int", lastIndexOf],
  [".lowerAscii(string) string", (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())],
  [".upperAscii(string) string", (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase())],
  [
    ".replace(string, string, string) string",
    (text: string, part: string, by: string) => replace({ text, part, by, limit: -1n }),
  ],
  [
    ".replace(string, string, string, int) string",
    (...[text, part, by, limit]: [string, string, string, bigint]) => replace({ text, part, by, limit }),
  ],
  [".split(string, string) list(string)", (text: string, by: string) => split({ text, by, limit: -1n })],
  [".split(string, string, int) list(string)", (text: string, by: string, limit: bigint) => split({ text, by, limit })],
  [".substring(string, int) string", (text: string, start: bigint) => tail(text, start)],
  [".substring(string, int, int) string", substring],
  [".trim(string) string", trim],
  [".format(string, list(dyn)) string", formatText],
  ["strings.quote(string) string", quote],
  [".join(list(string)) string", (list: readonly string[]) => join(list, "")],
  [".join(list(string), string) string", join],
];

/** Trims by character: a regular expression for the end would be tried at every space. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text.charAt(start))) start++;
  while (end > start && SPACE.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function charAt(text: string, index: bigint): string {
  const size = BigInt(codePoints(text));
  if (index < 0n || index > size) throw outOfRange(index);
  const start = utf16Index(text, Number(index));
  return index === size ? "" : String.fromCodePoint(text.codePointAt(start) ?? 0);
}

function outOfRange(index: bigint): CelError {
  return new CelError(`index out of range: ${index}`);
}

function indexOf(text: string, part: string, offset: bigint): bigint {
  if (offset < 0n) throw outOfRange(offset);
  if (part === "") return offset;
  const size = BigInt(codePoints(text));
  if (offset > size) throw outOfRange(offset);
  const found = text.indexOf(part, utf16Index(text, Number(offset)));
  return found < 0 ? -1n : BigInt(codePoints(text.slice(0, found)));
}

function lastIndexOf(text: string, part: string, offset: bigint): bigint {
  if (offset < 0n) throw outOfRange(offset);
  if (part === "") return offset;
  const size = BigInt(codePoints(text));
  if (offset > size) throw outOfRange(offset);
  const found = text.lastIndexOf(part, utf16Index(text, Number(offset)));
  return found < 0 ? -1n : BigInt(codePoints(text.slice(0, found)));
}

function tail(text: string, start: bigint): string {
  if (start < 0n || start > codePoints(text)) throw outOfRange(start);
  return text.slice(utf16Index(text, Number(start)));
}

function substring(text: string, start: bigint, end: bigint): string {
  const size = BigInt(codePoints(text));
  if (start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0n || start > size) throw outOfRange(start);
  if (end < 0n || end > size) throw outOfRange(end);
  return text.slice(utf16Index(text, Number(start)), utf16Index(text, Number(end)));
}

interface Cut {
  readonly text: string;
  readonly by: string;
  /** Maximum number of parts; all if negative. */
  readonly limit: bigint;
}

function split({ text, by, limit }: Cut): string[] {
  if (limit === 0n) return [];
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  const parts = by === "" ? [...text] : text.split(by);
  if (parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(by)];
}

function replace(edit: { text: string; part: string; by: string; limit: bigint }): string {
  const { text, part, by, limit } = edit;
  const pieces = part === "" ? [...text, ""] : text.split(part);
  const possible = part === "" ? pieces.length : pieces.length - 1;
  const count = limit < 0n || limit > BigInt(possible) ? possible : Number(limit);
  checkLength(text.length + count * (by.length - part.length));
  if (part === "") return pieces.map((char, at) => (at < count ? by + char : char)).join("");
  return pieces.map((piece, at) => (at === 0 ? piece : (at <= count ? by : part) + piece)).join("");
}

function join(list: readonly string[], separator: string): string {
  const parts: string[] = [];
  let length = Math.max(0, list.length - 1) * separator.length;
  for (const part of list) {
    if (typeof part !== "string") throw new CelError(`join: invalid input: ${String(part)}`);
    parts.push(part);
    length += part.length;
  }
  checkLength(length);
  return parts.join(separator);
}

function checkLength(length: number): void {
  if (length > MAX_LENGTH) throw new CelError(`text of ${length} characters is too long`);
}

const QUOTED: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is quoted.
  return `"${text.replace(/[\x07\b\f\n\r\t\v\\"]/g, (char) => QUOTED[char] ?? char)}"`;
}

/** Number of compiled patterns that are cached. */
const KEPT = 200;

/** Functions for regular expressions, which are matched in linear time. */
export function regexFunctions(): readonly FunctionSpec[] {
  const cache = new PatternCache(KEPT);
  const compiled = (source: string): LinearPattern => {
    try {
      return cache.get(source);
    } catch (error) {
      throw new CelError(error instanceof Error ? error.message : String(error));
    }
  };
  const matches = (text: string, pattern: string): boolean => compiled(pattern).test(text);
  return [
    ["matches(string, string) bool", matches],
    [".matches(string, string) bool", matches],
    [".find(string, string) string", (text: string, pattern: string) => compiled(pattern).findAll(text, 1)[0] ?? ""],
    [
      ".findAll(string, string) list(string)",
      (text: string, pattern: string) => compiled(pattern).findAll(text, Number.POSITIVE_INFINITY),
    ],
    [
      ".findAll(string, string, int) list(string)",
      (text: string, pattern: string, limit: bigint) =>
        compiled(pattern).findAll(text, limit < 0n ? Number.POSITIVE_INFINITY : Number(limit)),
    ],
  ];
}
