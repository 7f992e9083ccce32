import { OMITTED_VALUE } from "../meta/field-cause.ts";
import { goDouble, goNumber } from "../text/go-format.ts";
import { isJsonInteger, isListed, isMultiple, type Limit, type NumberCheck, type NumberRange } from "./constraints.ts";
import type { Faults } from "./faults.ts";
import { ARRAY, INTEGER, NUMBER, OBJECT, type SchemaNode, TEXT } from "./node.ts";

/** Whether a non-null value has one of the schema's types; `kind` is the bit of the value. */
export function checkType(faults: Faults, node: SchemaNode, [value, kind]: readonly [unknown, number]): boolean {
  if ((node.types & kind) !== 0) return true;
  if (kind === NUMBER && (node.types & INTEGER) !== 0 && isJsonInteger(value as number)) return true;
  if (node.format !== "") {
    const format = kind === INTEGER ? "int64" : kind === NUMBER ? "float64" : "";
    if (kind !== TEXT && kind !== ARRAY && format !== node.format) {
      faults.type(node.format, format);
      return false;
    }
    // Kubernetes leaves texts and lists to the format if there is one.
    if ((kind === TEXT || kind === ARRAY) && (node.types & (INTEGER | NUMBER)) === 0) return true;
  }
  faults.type(node.typeText, kindName(kind));
  return false;
}

function kindName(kind: number): string {
  switch (kind) {
    case OBJECT:
      return "object";
    case ARRAY:
      return "array";
    case TEXT:
      return "string";
    case INTEGER:
      return "integer";
    case NUMBER:
      return "number";
    default:
      return "boolean";
  }
}

export function checkEnum(faults: Faults, node: SchemaNode, value: unknown): void {
  if (node.enum !== undefined && !isListed(node.enum, value)) faults.notListed(value, node.enum);
}

/** Checks length, then pattern, and reports only the first fault. */
export function checkText(faults: Faults, node: SchemaNode, text: string): void {
  if (text.length > node.maxLength && codePoints(text) > node.maxLength) faults.tooLong(node.maxLength);
  else if (node.minLength > 0 && codePoints(text) < node.minLength)
    faults.breaks(text, `should be at least ${node.minLength} chars long`);
  else if (node.matches !== undefined && !node.matches(text)) faults.breaks(text, `should match '${node.pattern}'`);
}

export function checkFormat(faults: Faults, node: SchemaNode, text: string): void {
  if (node.textFormat !== undefined && !node.textFormat(text)) faults.type(node.format, text);
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) count -= 1;
  return count;
}

export function checkNumber(faults: Faults, check: NumberCheck, value: number | bigint): void {
  const { range, multipleOf, minimum, maximum } = check;
  if (range !== undefined) checkRanges(faults, { check, range }, value);
  if (multipleOf !== undefined) checkMultiple(faults, multipleOf, value);
  if (minimum !== undefined) {
    const { limit, text, told } = comparable(minimum, value);
    if (value < limit || (minimum.exclusive && value <= limit))
      tell(faults, told, `should be greater than ${minimum.exclusive ? "" : "or equal to "}${text}`);
  }
  if (maximum !== undefined) {
    const { limit, text, told } = comparable(maximum, value);
    if (value > limit || (maximum.exclusive && value >= limit))
      tell(faults, told, `should be less than ${maximum.exclusive ? "" : "or equal to "}${text}`);
  }
}

interface Ranged {
  readonly check: NumberCheck;
  readonly range: NumberRange;
}

/** Checks that the value and the limits are in range. As in Kubernetes, a limit out of range is reported as a fault of the value. */
function checkRanges(faults: Faults, { check, range }: Ranged, value: number | bigint): void {
  const outside = (what: string): void =>
    faults.composite((path) => `${what} value must be of type ${range.text} in ${path}`);
  if (!range.fits(value)) outside("Checked");
  if (check.multipleOf?.fits === false) outside("MultipleOf");
  if (check.minimum?.fits === false) outside("Minimum boundary");
  if (check.maximum?.fits === false) outside("Maximum boundary");
}

function checkMultiple(faults: Faults, multipleOf: Limit, value: number | bigint): void {
  const { limit, text, told } = comparable(multipleOf, value);
  if (limit <= 0)
    faults.says(OMITTED_VALUE, (path) => `${text}: factor MultipleOf declared for ${path} must be positive: ${text}`);
  else if (!isMultiple(value, limit)) tell(faults, told, `should be a multiple of ${text}`);
}

/** Number and limit to compare, with both as text. */
interface Comparable {
  readonly limit: number | bigint;
  readonly text: string;
  readonly told: string;
}

/** Compares integers with the limit as an integer if it is in range; otherwise both as doubles. */
function comparable(limit: Limit, value: number | bigint): Comparable {
  const integers = limit.fits && (typeof value === "bigint" || Number.isSafeInteger(value));
  return integers
    ? { limit: limit.integer, text: limit.integer.toString(), told: goNumber(value) }
    : { limit: limit.value, text: goDouble(limit.value), told: goDouble(Number(value)) };
}

function tell(faults: Faults, told: string, rule: string): void {
  faults.says(OMITTED_VALUE, (path) => `${told}: ${path} in body ${rule}`);
}
