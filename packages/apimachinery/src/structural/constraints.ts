import { equalJson } from "../json/value.ts";
import type { JsonSchema } from "../schema.ts";
import { goJson } from "../text/go-format.ts";

/** Constraints of a schema on numbers. */
export interface NumberCheck {
  /** Range that values must fit: an integer of 32 or 64 bits, or a 32-bit float. Undefined if every number fits. */
  readonly range: NumberRange | undefined;
  readonly minimum: Limit | undefined;
  readonly maximum: Limit | undefined;
  readonly multipleOf: Limit | undefined;
}

/** Range of a type and format, with the name of both in errors. */
export interface NumberRange {
  readonly fits: (value: number | bigint) => boolean;
  readonly text: string;
}

/** Number that values are compared with. */
export interface Limit {
  readonly value: number;
  /** Limit for integers: Kubernetes compares them with the limit truncated to a 64-bit integer. */
  readonly integer: number | bigint;
  readonly exclusive: boolean;
  /** Whether the limit itself is in the range; if not, every number is an error. */
  readonly fits: boolean;
}

export interface NumberType {
  readonly typeNames: readonly string[];
  readonly format: string;
}

const INT64: readonly [bigint, bigint] = [-(2n ** 63n), 2n ** 63n - 1n];
const INT32: readonly [number, number] = [-(2 ** 31), 2 ** 31 - 1];

export function compileNumber(schema: JsonSchema, type: NumberType): NumberCheck | undefined {
  const range = rangeOf(type);
  const limit = (value: number | undefined, exclusive = false): Limit | undefined =>
    value === undefined ? undefined : { value, integer: toInt64(value), exclusive, fits: range?.fits(value) ?? true };
  const minimum = limit(schema.minimum, schema.exclusiveMinimum);
  const maximum = limit(schema.maximum, schema.exclusiveMaximum);
  const multipleOf = limit(schema.multipleOf);
  const empty = [range, minimum, maximum, multipleOf].every((part) => part === undefined);
  return empty ? undefined : { range, minimum, maximum, multipleOf };
}

function rangeOf({ typeNames, format }: NumberType): NumberRange | undefined {
  if (typeNames.length !== 1) return undefined;
  const [type] = typeNames;
  if (type === "number" && format === "float")
    return { fits: (value) => Number.isFinite(Math.fround(Number(value))), text: "number with format float" };
  if (type !== "integer") return undefined;
  const [least, most] = format === "int32" ? INT32 : INT64;
  return {
    fits: (value) => (typeof value === "bigint" || Number.isInteger(value)) && value >= least && value <= most,
    text: format === "" ? "integer (default format)" : `integer with format ${format}`,
  };
}

function toInt64(value: number): number | bigint {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return whole;
  const [least, most] = INT64;
  if (!Number.isFinite(whole)) return whole > 0 ? most : least;
  const exact = BigInt(whole);
  return exact > most ? most : exact < least ? least : exact;
}

/** Whether a double is an integer by go-openapi's rule: within 2^53, and at most a billionth off. */
export function isJsonInteger(value: number): boolean {
  if (!(Math.abs(value) <= MAX_JSON_FLOAT)) return false;
  const rounded = Math.round(value);
  return value === rounded || (rounded !== 0 && Math.abs(value - rounded) < 1e-9 * Math.abs(rounded));
}

const MAX_JSON_FLOAT = 2 ** 53 - 1;

/** Whether a number is a multiple of a positive factor; doubles by the rule of {@link isJsonInteger}. */
export function isMultiple(value: number | bigint, factor: number | bigint): boolean {
  if (isInteger(value) && isInteger(factor)) return BigInt(value) % BigInt(factor) === 0n;
  const [double, by] = [Number(value), Number(factor)];
  return isJsonInteger(by < 1 ? (1 / by) * double : double / by);
}

function isInteger(value: number | bigint): boolean {
  return typeof value === "bigint" || Number.isSafeInteger(value);
}

/** Values in an `enum`. */
export interface EnumCheck {
  /** The scalars among them, for fast lookup. */
  readonly scalars: ReadonlySet<unknown>;
  readonly values: readonly unknown[];
  /** Values as text for errors. */
  readonly texts: readonly string[];
}

export function compileEnum(values: readonly unknown[] | undefined): EnumCheck | undefined {
  if (values === undefined || values.length === 0) return undefined;
  const scalars = new Set(values.filter((value) => value !== null && typeof value !== "object"));
  return { scalars, values, texts: values.map((value) => (typeof value === "string" ? value : goJson(value))) };
}

/**
 * Whether a value is listed. As in Kubernetes, null never is. A value is first converted to the
 * type of the listed one: a double loses its fraction, an integer becomes the character of that code point.
 */
export function isListed({ scalars, values }: EnumCheck, value: unknown): boolean {
  if (value === null) return false;
  if (scalars.has(value)) return true;
  return values.some((listed) => listed !== null && (equalJson(listed, value) || converts(value, listed)));
}

function converts(value: unknown, listed: unknown): boolean {
  if (typeof value === "number" && typeof listed === "number")
    return Number.isSafeInteger(listed) && Math.trunc(value) === listed;
  if (typeof value === "number" && typeof listed === "string")
    return Number.isSafeInteger(value) && rune(value) === listed;
  return typeof value === "bigint" && typeof listed === "string" && listed === "\ufffd";
}

/** Converts an integer to a string like Go. */
function rune(point: number): string {
  const valid = point >= 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  return valid ? String.fromCodePoint(point) : "\ufffd";
}
