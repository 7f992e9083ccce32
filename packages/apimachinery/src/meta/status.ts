import { isJsonObject, type JsonObject } from "../json/value.ts";
import type { ListMeta } from "./types.ts";

/** A reason that errors of this package have. */
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

/** Each with its HTTP status code. */
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

/** Every reason that errors of this package have, sorted: the ones that `docs/reference/errors.md` explains. */
export const statusReasons: readonly KnownReason[] = Object.keys(statusCodes) as KnownReason[];

/** The reasons of metav1.StatusReason. The last three are never ours, but a forwarded Status may have them. */
export type StatusReason = KnownReason | "ServerTimeout" | "StorageReadError" | "";

/** The kinds of cause that Kubernetes names (metav1.CauseType, and corev1.NamespaceTerminatingCause). */
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

/** One of the causes of an error (metav1.StatusCause). */
export interface StatusCause {
  readonly reason?: CauseType;
  readonly message?: string;
  /** Path of the field in the object, or the query parameter: `spec.text`, `items[0].name`. */
  readonly field?: string;
}

/** What an error is about (metav1.StatusDetails). */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural resource name for most reasons, the kind for `Invalid`, as in Kubernetes. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  /** Seconds after which a retry may help; sent as the Retry-After header too. */
  readonly retryAfterSeconds?: number;
}

/** The body of every error, and of some successes (metav1.Status). */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: ListMeta;
  readonly status: "Success" | "Failure";
  readonly message: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  /** The HTTP status code. */
  readonly code: number;
}

/** What is said where a server does not. */
export interface UnsaidStatus {
  /** @default 500 */
  readonly code?: number;
  /** @default "" */
  readonly message?: string;
}

/**
 * A Status as another server tells it, without what is of another type than it must be: parts of it become headers and codes,
 * and whoever reads it is not to fall over it. A code that is none of an error counts as not said.
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

/** Whether a code of HTTP says that something went wrong: what else comes instead of an answer is no answer. */
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
