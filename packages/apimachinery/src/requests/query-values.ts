import { ApiError } from "../meta/api-error.ts";
import { quote } from "../text/go-format.ts";

const INT64_MAX = 2n ** 63n - 1n;

/** Parses a boolean of a query as Kubernetes does: true unless `false` or `0`; `undefined` if absent. */
export function queryBoolean(value: string | null): boolean | undefined {
  return value === null ? undefined : value !== "0" && value.toLowerCase() !== "false";
}

/**
 * Parses an integer of a query like strconv.ParseInt. Values beyond 2^53 exceed any limit or timeout and are cut to it.
 *
 * @throws ApiError 400 for an invalid integer
 */
export function queryInteger(value: string | null): number | undefined {
  if (value === null) return undefined;
  const fault = (what: string): ApiError => ApiError.badRequest(`strconv.ParseInt: parsing ${quote(value)}: ${what}`);
  if (!/^[+-]?[0-9]+$/.test(value)) throw fault("invalid syntax");
  const digits = value.replace(/^([+-]?)0+(?=[0-9])/, "$1");
  if (digits.length > 20 || outOfRange(digits)) throw fault("value out of range");
  return Math.max(Math.min(Number(digits), Number.MAX_SAFE_INTEGER), Number.MIN_SAFE_INTEGER);
}

function outOfRange(digits: string): boolean {
  const number = BigInt(digits.replace("+", ""));
  return number > INT64_MAX || number < -INT64_MAX - 1n;
}
