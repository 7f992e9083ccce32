import { goJson } from "../go-format.ts";
import { equalJson } from "../json/value.ts";

/** The values that a schema lists. */
export interface EnumCheck {
  /** Scalars among them, found at once. */
  readonly scalars: ReadonlySet<unknown>;
  readonly values: readonly unknown[];
  /** As errors list them. */
  readonly texts: readonly string[];
}

export function compileEnum(values: readonly unknown[] | undefined): EnumCheck | undefined {
  if (values === undefined || values.length === 0) return undefined;
  const scalars = new Set(values.filter((value) => value !== null && typeof value !== "object"));
  return { scalars, values, texts: values.map((value) => (typeof value === "string" ? value : goJson(value))) };
}

/**
 * Whether a value is listed. As in Kubernetes null never is, even if it is, and a value is converted to the type of the
 * listed one first: a double loses its fraction, an integer becomes the character with this code point.
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

/** As Go's conversion of an integer to a string. */
function rune(point: number): string {
  const valid = point >= 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  return valid ? String.fromCodePoint(point) : "\ufffd";
}
