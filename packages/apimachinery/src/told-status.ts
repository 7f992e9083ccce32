import { isJsonObject, type JsonObject } from "./json/value.ts";
import type { Status, StatusDetails, StatusReason } from "./status.ts";

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
