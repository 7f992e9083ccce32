import { ApiError } from "../meta/api-error.ts";
import type { StatusCause } from "../meta/status.ts";

/** 400 for a patch that cannot be decoded, as Kubernetes answers. */
export function undecodable(what: string): ApiError {
  return ApiError.badRequest(`error decoding patch: ${what}`);
}

/** Returns Go's message for a JSON value that does not fit a Go type. */
export function cannotUnmarshal(value: unknown, into: string): string {
  return `json: cannot unmarshal ${jsonKind(value)} into Go ${into}`;
}

/**
 * 422 for a patch that does not fit the object. Kubernetes hides the reason (`NewGenericServerResponse`); here it is a cause,
 * which `kubectl` prints.
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

/** 400 for a malformed patch. Kubernetes answers half of these with 500. */
export function malformed(what: string, path: string): ApiError {
  return ApiError.badRequest(path === "" ? what : `${what}: ${path}`);
}

/** 422 for lists of lists, which strategic merge patches cannot change. */
export function listOfLists(path: string): ApiError {
  return inapplicable("lists of lists are not supported", path);
}

/** Joins a path and a name: `spec` and `ports` give `spec.ports`. */
export function below(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
