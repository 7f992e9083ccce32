import { Duration, UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import { elementsOf } from "../values/compare.ts";
import { CelError, formatDouble, formatDuration, formatTimestamp } from "../values/formatted.ts";

const DEFAULT_PRECISION = 6;
const MAX_PRECISION = 100;
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Implements `text.format(list)` of cel-go's extension version 2: numbers are grouped by thousands. */
export function formatText(text: string, list: Iterable<unknown>): string {
  const values = elementsOf(list);
  let next = 0;
  let formatted = "";
  let end = 0;
  for (const match of text.matchAll(/%(?:%|(?:\.(\d*))?([A-Za-z]?))/g)) {
    formatted += text.slice(end, match.index);
    end = match.index + match[0].length;

    if (match[0] === "%%") {
      formatted += "%";
      continue;
    }
    const verb = match[2] ?? "";
    if (verb === "") throw new CelError("unexpected end of string");
    if (next >= values.length) throw new CelError(`index ${next} out of range`);
    formatted += clause(values[next++], { verb, precision: precisionOf(match[1]) });
  }
  if (next < values.length)
    throw new CelError(`too many arguments supplied to string.format (expected ${next}, got ${values.length})`);
  return formatted + text.slice(end);
}

function precisionOf(digits: string | undefined): number {
  if (digits === undefined) return DEFAULT_PRECISION;
  return Math.min(MAX_PRECISION, Number(digits));
}

function clause(value: unknown, how: { verb: string; precision: number }): string {
  switch (how.verb) {
    case "s":
      return printed(value);
    case "d":
      return String(whole(value) ?? refuse("decimal clause can only be used on integers", value));
    case "f":
      return grouped(fixed(double(value, "fixed-point clause can only be used on doubles"), how.precision));
    case "e":
      return scientific(double(value, "scientific clause can only be used on doubles"), how.precision);
    case "b":
      if (typeof value === "boolean") return value ? "1" : "0";
      return (whole(value) ?? refuse("only integers and bools can be formatted as binary", value)).toString(2);
    case "o":
      return (whole(value) ?? refuse("octal clause can only be used on integers", value)).toString(8);
    case "x":
      return hex(value);
    case "X":
      return hex(value).toUpperCase();
    default:
      throw new CelError(
        `could not parse formatting clause: unrecognized formatting clause ${JSON.stringify(how.verb)}`,
      );
  }
}

function refuse(what: string, value: unknown): never {
  throw new CelError(`${what}, was given ${typeNameOf(value)}`);
}

function whole(value: unknown): bigint | undefined {
  if (value instanceof UnsignedInt) return value.valueOf();
  return typeof value === "bigint" ? value : undefined;
}

function double(value: unknown, otherwise: string): number {
  if (typeof value === "number") return value;
  if (value === "NaN") return Number.NaN;
  if (value === "Infinity") return Number.POSITIVE_INFINITY;
  return value === "-Infinity" ? Number.NEGATIVE_INFINITY : refuse(otherwise, value);
}

/** Ties are rounded to the even digit. */
function fixed(value: number, precision: number): string {
  const rounded = value.toFixed(precision);
  const exact = precision < MAX_PRECISION ? value.toFixed(MAX_PRECISION) : rounded;
  const kept = exact.slice(0, exact.indexOf(".") + 1 + precision).replace(/\.$/, "");
  const isTie = /^50*$/.test(exact.slice(exact.indexOf(".") + 1 + precision));
  return isTie && /[02468]$/.test(kept) ? kept : rounded;
}

function grouped(fixed: string): string {
  if (!/\d/.test(fixed)) return special(fixed);
  const [whole = "", fraction] = fixed.split(".");
  const groups = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? groups : `${groups}.${fraction}`;
}

function special(text: string): string {
  return text.replace("Infinity", "∞");
}

function scientific(value: number, precision: number): string {
  if (!Number.isFinite(value)) return special(String(value));
  const [mantissa = "", exponent = "0"] = value.toExponential(precision).split("e");
  const digits = String(Math.abs(Number(exponent))).padStart(2, "0");
  const power = [...digits].map((digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return `${mantissa}\u202f×\u202f10${exponent.startsWith("-") ? "⁻" : ""}${power}`;
}

function hex(value: unknown): string {
  if (typeof value === "string" || value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return (whole(value) ?? refuse("only integers, byte buffers, and strings can be formatted as hex", value)).toString(
    16,
  );
}

/** Formats a value for `%s`. */
function printed(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return formatDouble(value);
  if (value instanceof Date) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  return nested(value);
}

/** Formats a value inside a list or map. */
function nested(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number")
    return Number.isFinite(value) ? value.toFixed(DEFAULT_PRECISION) : JSON.stringify(formatDouble(value));
  if (value === null || typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (value instanceof UnsignedInt) return String(value.valueOf());
  if (value instanceof Date) return `timestamp(${JSON.stringify(formatTimestamp(value))})`;
  if (value instanceof Duration) return `duration(${JSON.stringify(formatDuration(value))})`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  if (Array.isArray(value) || value instanceof Set)
    return `[${[...value].map((element) => nested(element)).join(", ")}]`;
  if (value instanceof Map) return printedMap(value);
  if (isPlainObject(value)) return printedMap(new Map(Object.entries(value)));
  return refuse(
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
    value,
  );
}

/** The library represents map literals as objects. */
function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function printedMap(map: ReadonlyMap<unknown, unknown>): string {
  const entries = [...map.keys()].map((key) => [nested(key), nested(map.get(key))] as const);
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${sorted.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

function typeNameOf(value: unknown): string {
  if (value === null) return "null_type";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "double";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  if (value instanceof UnsignedInt) return "uint";
  if (value instanceof Date) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof Uint8Array) return "bytes";
  return value instanceof Map ? "map" : "list";
}
