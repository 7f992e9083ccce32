import { ApiError } from "../api-error.ts";
import type { StatusCause } from "../status.ts";

/** 400: no patch at all, or one of another shape, as Kubernetes answers where it reads it. */
export function undecodable(what: string): ApiError {
  return ApiError.badRequest(`error decoding patch: ${what}`);
}

/** What Go says of a JSON value where a Go value of another kind should be. */
export function cannotUnmarshal(value: unknown, into: string): string {
  return `json: cannot unmarshal ${jsonKind(value)} into Go ${into}`;
}

/**
 * 422: a patch that does not fit the object. Kubernetes keeps the reason to itself (`NewGenericServerResponse`); here it
 * is told as a cause, which `kubectl` prints.
 */
export function inapplicable(reason: string, field: string): ApiError {
  const cause: StatusCause = { reason: "FieldValueInvalid", message: reason, field };
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "the server rejected our request due to an error in our request",
    reason: "Invalid",
    details: { causes: [cause] },
    code: 422,
  });
}

function jsonKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "number" : typeof value;
}
