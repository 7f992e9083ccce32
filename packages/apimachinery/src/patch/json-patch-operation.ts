import { ApiError } from "../api-error.ts";
import { isJsonObject, type JsonObject, memberOf } from "../json/value.ts";
import { cannotUnmarshal, undecodable } from "./refusal.ts";

/** One operation of a JSON patch, as it is read; whether it can be done is another matter. */
export interface Operation {
  readonly op: string;
  readonly path: string | undefined;
  readonly from: string | undefined;
  /** `undefined` when there is none. */
  readonly value: unknown;
}

/** As many operations as a JSON patch may have in Kubernetes. */
const MAX_OPERATIONS = 10_000;

/** @throws ApiError 400, 413 */
export function readOperations(patch: unknown): readonly Operation[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw undecodable(cannotUnmarshal(patch, "value of type []handlers.jsonPatchOp"));
  if (patch.length > MAX_OPERATIONS) {
    const allowed = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`;
    throw ApiError.requestEntityTooLarge(allowed);
  }
  return patch.map(readOperation);
}

function readOperation(operation: unknown): Operation {
  if (operation === null) return { op: "unknown", path: undefined, from: undefined, value: undefined };
  if (!isJsonObject(operation)) throw undecodable(cannotUnmarshal(operation, "value of type handlers.jsonPatchOp"));
  const op = textOf(operation, "op") ?? "unknown";
  return { op, path: textOf(operation, "path"), from: textOf(operation, "from"), value: memberOf(operation, "value") };
}

function textOf(operation: JsonObject, name: string): string | undefined {
  const text = memberOf(operation, name) ?? undefined;
  if (text === undefined || typeof text === "string") return text;
  throw undecodable(cannotUnmarshal(text, `struct field jsonPatchOp.${name} of type string`));
}

const MEMBERS = new Set(["op", "path", "from", "value"]);
/** Kubernetes counts no further. */
const MAX_WARNINGS = 100;

/**
 * What `fieldValidation` Warn warns of and Strict refuses in a JSON patch: members that no operation has, in Kubernetes'
 * words (`json patch unknown field "[0].vlaue"`). The first hundred.
 */
export function unknownJsonPatchFields(patch: unknown): string[] {
  const found: string[] = [];
  if (!Array.isArray(patch)) return found;
  for (const [at, operation] of patch.entries()) {
    if (!isJsonObject(operation)) continue;
    for (const name of Object.keys(operation)) {
      if (found.length === MAX_WARNINGS) return found;
      if (!MEMBERS.has(name)) found.push(`json patch unknown field "[${at}].${name}"`);
    }
  }
  return found;
}
