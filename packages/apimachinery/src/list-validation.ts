import { ApiError } from "./api-error.ts";
import { fieldForbidden, fieldNotSupported } from "./field-cause.ts";
import type { ListOptions } from "./list-options.ts";
import type { StatusCause } from "./status.ts";

const KIND = { group: "meta.k8s.io", kind: "ListOptions" };
const MATCH = "resourceVersionMatch";

/**
 * Refuses options that contradict each other, as apimachinery's internalversion validation (with WatchList on).
 * @throws ApiError 422 `ListOptions.meta.k8s.io "" is invalid`, with a cause for each rule broken.
 */
export function validateListOptions(options: ListOptions, { isWatch }: { readonly isWatch: boolean }): void {
  const causes = isWatch ? watchProblems(options) : listProblems(options);
  if (causes.length > 0) throw ApiError.invalid({ kind: KIND, name: "", causes });
}

function listProblems(options: ListOptions): StatusCause[] {
  const causes = options.resourceVersionMatch === undefined ? [] : listMatchProblems(options);
  if (options.sendInitialEvents !== undefined) {
    causes.push(fieldForbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return causes;
}

function listMatchProblems({ resourceVersionMatch: match, ...options }: ListOptions): StatusCause[] {
  const causes: StatusCause[] = [];
  if (options.resourceVersion === undefined) {
    causes.push(fieldForbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
  }
  if (options.continue !== undefined) causes.push(forbiddenWithContinue());
  if (match !== "Exact" && match !== "NotOlderThan") {
    causes.push(fieldNotSupported(MATCH, match, ["Exact", "NotOlderThan", ""]));
  }
  if (match === "Exact" && options.resourceVersion === "0") {
    causes.push(fieldForbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
  }
  return causes;
}

function watchProblems({ resourceVersionMatch: match, ...options }: ListOptions): StatusCause[] {
  const causes: StatusCause[] = [];
  if (options.sendInitialEvents !== undefined && match !== "NotOlderThan") {
    causes.push(fieldForbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`));
  }
  if (match === undefined) return causes;
  if (options.sendInitialEvents === undefined) {
    causes.push(fieldForbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (match !== "NotOlderThan") causes.push(fieldNotSupported(MATCH, match, ["NotOlderThan"]));
  if (options.continue !== undefined) causes.push(forbiddenWithContinue());
  return causes;
}

function forbiddenWithContinue(): StatusCause {
  return fieldForbidden(MATCH, `${MATCH} is forbidden when continue is provided`);
}
