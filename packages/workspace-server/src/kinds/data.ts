import {
  ApiError,
  fieldForbidden,
  fieldInvalid,
  type KubeObject,
  quote,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { dataKeyProblems, membersOf } from "./problems.ts";

/** Maximum size of the values of a ConfigMap or Secret, in bytes; keys do not count. */
export const MAX_DATA: number = 1024 * 1024;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Checks base64 values and removes line breaks, as Go does.
 *
 * @param keys keys of the values. Default: all of the member
 * @throws ApiError 400 on invalid base64
 */
export function checkBase64(object: KubeObject, member: string, keys?: readonly string[]): void {
  const map = membersOf(object[member]) as Record<string, unknown>;
  for (const key of keys ?? Object.keys(map)) {
    const value = map[key];
    if (typeof value !== "string") continue; // the schema rejects it
    const plain = value.replaceAll(/[\r\n]/g, "");
    if (!BASE64.test(plain)) throw illegal(object, wrongByte(plain));
    if (plain !== value) map[key] = plain;
  }
}

/** Returns the number of bytes that a base64 string encodes. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

function illegal({ kind }: KubeObject, at: number): ApiError {
  return ApiError.badRequest(
    `${kind} in version ${quote("v1")} cannot be handled as a ${kind}: illegal base64 data at input byte ${at}`,
  );
}

/** Returns where Go's decoder fails: at an invalid digit, at misplaced padding, or after the last complete group. */
function wrongByte(text: string): number {
  const odd = text.search(/[^A-Za-z0-9+/=]/);
  const padding = text.search(/=(?!=?$)/);
  const found = [odd, padding].filter((at) => at >= 0);
  return found.length > 0 ? Math.min(...found) : text.length - (text.length % 4);
}

/** Validates the keys of a map. */
export function keyProblems(field: string, map: unknown): StatusCause[] {
  return Object.keys(membersOf(map)).flatMap((key) =>
    dataKeyProblems(key).map((problem) => fieldInvalid(`${field}[${key}]`, key, problem)),
  );
}

/** Returns the forbidden changes to an object with `immutable: true`. */
export function immutableProblems(next: KubeObject, before: KubeObject, members: readonly string[]): StatusCause[] {
  if (before["immutable"] !== true) return [];
  const detail = "field is immutable when `immutable` is set";
  const changed = members.filter((name) => !equalJson(membersOf(next[name]), membersOf(before[name])));
  const fields = next["immutable"] === true ? changed : ["immutable", ...changed];
  return fields.map((field) => fieldForbidden(field, detail));
}
