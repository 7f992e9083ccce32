import { isJsonObject, type JsonObject } from "../json/value.ts";
import type { ListMeta } from "./types.ts";

/** Reasons of the errors of this package. */
export type KnownReason =
  | "AlreadyExists"
  | "BadRequest"
  | "Conflict"
  | "Expired"
  | "Forbidden"
  | "Gone"
  | "InternalError"
  | "Invalid"
  | "MethodNotAllowed"
  | "NotAcceptable"
  | "NotFound"
  | "RequestEntityTooLarge"
  | "ServiceUnavailable"
  | "Timeout"
  | "TooManyRequests"
  | "Unauthorized"
  | "UnsupportedMediaType";

/** HTTP status code of each reason. */
export const statusCodes: Readonly<Record<KnownReason, number>> = {
  AlreadyExists: 409,
  BadRequest: 400,
  Conflict: 409,
  Expired: 410,
  Forbidden: 403,
  Gone: 410,
  InternalError: 500,
  Invalid: 422,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  NotFound: 404,
  RequestEntityTooLarge: 413,
  ServiceUnavailable: 503,
  Timeout: 504,
  TooManyRequests: 429,
  Unauthorized: 401,
  UnsupportedMediaType: 415,
};

/**
 * Every reason of this package's errors, sorted.
 *
 * @see docs/reference/errors.md
 */
export const statusReasons: readonly KnownReason[] = Object.keys(statusCodes) as KnownReason[];

/** Reasons of metav1.StatusReason. This package never sets the last three, but a forwarded Status may have them. */
export type StatusReason = KnownReason | "ServerTimeout" | "StorageReadError" | "";

/** Types of causes that Kubernetes defines (metav1.CauseType, and corev1.NamespaceTerminatingCause). */
export type CauseType =
  | "FieldManagerConflict"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueInvalid"
  | "FieldValueNotFound"
  | "FieldValueNotSupported"
  | "FieldValueRequired"
  | "FieldValueTooFew"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTooShort"
  | "FieldValueTypeInvalid"
  | "InternalError"
  | "NamespaceTerminating"
  | "ResourceVersionTooLarge"
  | "UnexpectedServerResponse";

/** Cause of an error (metav1.StatusCause). */
export interface StatusCause {
  readonly reason?: CauseType;
  readonly message?: string;
  /** Path of the field in the object, or the query parameter: `spec.text`, `items[0].name`. */
  readonly field?: string;
}

/** Subject of an error (metav1.StatusDetails). */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** Plural resource name for most reasons, the kind for `Invalid`, as in Kubernetes. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  /** Seconds after which a retry may help; also sent as the Retry-After header. */
  readonly retryAfterSeconds?: number;
}

/** Body of every error, and of some successes (metav1.Status). */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: ListMeta;
  readonly status: "Success" | "Failure";
  readonly message: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  /** HTTP status code. */
  readonly code: number;
}

/** Defaults for fields that another server's Status lacks. */
export interface UnsaidStatus {
  /** @default 500 */
  readonly code?: number;
  /** @default "" */
  readonly message?: string;
}

/**
 * Reads the Status of another server. Drops fields of a wrong type: parts of a Status become headers and codes, and must not
 * break readers. A code that is not an error code counts as missing.
 */
export function statusFrom(told: JsonObject, unsaid: UnsaidStatus = {}): Status {
  const { code, status, message, reason, details, metadata, ...rest } = told;
  return {
    ...rest,
    kind: "Status",
    apiVersion: "v1",
    metadata: isJsonObject(metadata) ? metadata : {},
    status: status === "Success" ? status : "Failure",
    message: typeof message === "string" ? message : (unsaid.message ?? ""),
    ...(typeof reason === "string" && { reason: reason as StatusReason }),
    ...(isJsonObject(details) && { details: detailsFrom(details) }),
    code: isErrorCode(code) ? code : (unsaid.code ?? 500),
  };
}

/** Whether an HTTP status code is one of an error. */
export function isErrorCode(code: unknown): code is number {
  return Number.isInteger(code) && Number(code) >= 400 && Number(code) <= 599;
}

function detailsFrom(told: JsonObject): StatusDetails {
  const { retryAfterSeconds: seconds, causes, ...rest } = told;
  const isTime = Number.isSafeInteger(seconds) && Number(seconds) >= 0;
  return {
    ...rest,
    ...(Array.isArray(causes) && { causes: causes.filter(isJsonObject) }),
    ...(isTime && { retryAfterSeconds: Number(seconds) }),
  };
}
