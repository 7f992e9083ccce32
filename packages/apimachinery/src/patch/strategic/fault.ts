import { ApiError } from "../../api-error.ts";
import { inapplicable } from "../refusal.ts";

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
