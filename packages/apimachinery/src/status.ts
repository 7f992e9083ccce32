import type { ListMeta } from "./meta.ts";

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

/** Every reason that errors of this package have, sorted: the ones that `docs/errors.md` explains. */
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
