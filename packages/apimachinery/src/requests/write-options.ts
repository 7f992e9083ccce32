import { ApiError } from "../meta/api-error.ts";
import {
  boundedCauses,
  type Causes,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
} from "../meta/field-cause.ts";
import type { StatusCause } from "../meta/status.ts";
import { queryBoolean } from "./query-values.ts";

/** Treatment of fields that a kind does not have, and of duplicate fields. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** Options of a create, update or patch from its query (metav1.CreateOptions, UpdateOptions, PatchOptions). */
export interface WriteQuery {
  /** Whether to process the request without storing the result. */
  readonly dryRun: boolean;
  /** Manager that owns the written fields; "" if unset. */
  readonly fieldManager: string;
  /** @default "Warn" */
  readonly fieldValidation: FieldValidation;
  /** Whether to take fields over from other managers; only for apply. */
  readonly force: boolean;
}

/** Kind of the options in errors, and whether the request is an apply. */
export interface WriteQueryRules {
  readonly kind: "CreateOptions" | "UpdateOptions" | "PatchOptions";
  readonly apply?: boolean;
}

const DEFAULT_WRITE_QUERY: WriteQuery = { dryRun: false, fieldManager: "", fieldValidation: "Warn", force: false };

/**
 * Parses the options of a create, update or patch from its query. Missing options get Kubernetes' defaults.
 *
 * @throws ApiError 422 `CreateOptions.meta.k8s.io "" is invalid`, with a cause for each invalid option
 */
export function parseWriteOptions(query: URLSearchParams, { kind, apply = false }: WriteQueryRules): WriteQuery {
  if (query.size === 0 && !apply) return DEFAULT_WRITE_QUERY;
  const dryRun = query.getAll("dryRun");
  const fieldManager = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  const force = queryBoolean(query.get("force"));
  const causes = [
    ...(apply && fieldManager === "" ? [fieldRequired("fieldManager", "is required for apply patch")] : []),
    ...(kind === "PatchOptions" && !apply && force !== undefined
      ? [fieldForbidden("force", "may not be specified for non-apply patch")]
      : []),
    ...boundedCauses(fieldManagerProblems(fieldManager)),
    ...dryRunProblems(dryRun),
    ...(isFieldValidation(fieldValidation)
      ? []
      : [fieldNotSupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"])]),
  ];
  throwIfInvalid(kind, causes);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: isFieldValidation(fieldValidation) && fieldValidation !== "" ? fieldValidation : "Warn",
    force: force ?? false,
  };
}

/** @throws ApiError 422 with the kind of the options, unless `causes` is empty */
export function throwIfInvalid(kind: string, causes: readonly StatusCause[]): void {
  if (causes.length > 0) throw ApiError.invalid({ kind: { group: "meta.k8s.io", kind }, name: "", causes });
}

export function dryRunProblems(dryRun: readonly string[]): StatusCause[] {
  return dryRun.every((value) => value === "All") ? [] : [fieldNotSupported("dryRun", dryRun, ["All"])];
}

/** Maximum length of a manager's name, in bytes. */
const MANAGER_BYTES = 128;

function* fieldManagerProblems(manager: string): Causes {
  const field = "fieldManager";
  if (new TextEncoder().encode(manager).length > MANAGER_BYTES) yield fieldTooLong(field, MANAGER_BYTES);
  let bytes = 0;
  for (const character of manager) {
    if (!PRINTABLE.test(character))
      yield fieldInvalid(field, manager, `invalid character ${codePoint(character)} (at position ${bytes})`);
    bytes += utf8Length(character);
  }
}

/** Characters that Go considers printable. */
const PRINTABLE = /^(?: |[^\p{C}\p{Z}])$/u;

/** Formats a character as Go's `%#U`: `U+0007`, with the character itself if it is printable. */
function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function utf8Length(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function isFieldValidation(text: string): text is FieldValidation | "" {
  return text === "" || text === "Ignore" || text === "Warn" || text === "Strict";
}

/**
 * Returns the field manager. If the request does not set one, it is the program's name from `User-Agent`, cut to 128 bytes,
 * like Kubernetes' managerOrUserAgent; "unknown" without one.
 */
export function managerOf(fieldManager: string, userAgent: string | undefined): string {
  if (fieldManager !== "") return fieldManager;
  const program = (userAgent ?? "").split("/", 1)[0] ?? "";
  const printable = [...program].filter((character) => PRINTABLE.test(character));
  let bytes = 0;
  const kept = printable.filter((character) => {
    bytes += utf8Length(character);
    return bytes <= MANAGER_BYTES;
  });
  return kept.length === 0 ? "unknown" : kept.join("");
}
