import { ApiError } from "../meta/api-error.ts";
import type { StatusCause } from "../meta/status.ts";

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

/** 400: a patch that Kubernetes calls malformed; for half of them it answers 500, as if it were to blame itself. */
export function malformed(what: string, path: string): ApiError {
  return ApiError.badRequest(path === "" ? what : `${what}: ${path}`);
}

/** The one thing that such patches cannot be about. */
export function listOfLists(path: string): ApiError {
  return inapplicable("lists of lists are not supported", path);
}

/** `spec` and `ports` make `spec.ports`. */
export function below(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
