import {
  isJsonObject,
  type JsonObject,
  parseOwnJson,
  type Status,
  type StatusDetails,
  type StatusReason,
} from "@virtual-workspaces/apimachinery";

/** The Status that another server answered; `undefined` when the body is none. */
export function toldStatus(body: Buffer): Status | undefined {
  try {
    const parsed = parseOwnJson(body.toString("utf8"));
    return isJsonObject(parsed) && parsed["kind"] === "Status" ? statusFrom(parsed) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A Status as another server says it. What is of another type than it should be is left out: parts of it become headers
 * and the code of our own answer.
 */
export function statusFrom(told: JsonObject): Status {
  const { code, status, message, reason, details, metadata, ...rest } = told;
  return {
    ...rest,
    kind: "Status",
    apiVersion: "v1",
    metadata: isJsonObject(metadata) ? metadata : {},
    status: status === "Success" ? status : "Failure",
    message: typeof message === "string" ? message : "",
    ...(typeof reason === "string" && { reason: reason as StatusReason }),
    ...(isJsonObject(details) && { details: detailsFrom(details) }),
    code: isErrorCode(code) ? code : 500,
  };
}

/** Whether a code of HTTP says that something went wrong: what else comes instead of an answer is no answer. */
export function isErrorCode(code: unknown): code is number {
  return Number.isInteger(code) && Number(code) >= 400 && Number(code) <= 599;
}

function detailsFrom(told: JsonObject): StatusDetails {
  const { retryAfterSeconds: seconds, causes, ...rest } = told;
  return {
    ...rest,
    ...(Array.isArray(causes) && { causes: causes.filter(isJsonObject) }),
    ...(Number.isSafeInteger(seconds) && { retryAfterSeconds: Number(seconds) }),
  };
}
