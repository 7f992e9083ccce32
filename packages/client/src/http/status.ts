import { isJsonObject, type JsonObject, type Status } from "@virtual-workspaces/apimachinery";

/** What is said where the server does not. */
export interface Unsaid {
  readonly code: number;
  readonly message: string;
}

/**
 * A Status as it came, without what is of another type than it must be: another server wrote it, and whoever reads it is
 * not to fall over it.
 */
export function statusOf({ code, message, reason, details, ...rest }: JsonObject, unsaid: Unsaid): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    ...rest,
    message: typeof message === "string" ? message : unsaid.message,
    ...(typeof reason === "string" && { reason }),
    ...(isJsonObject(details) && { details: detailsOf(details) }),
    code: typeof code === "number" && code >= 100 && code <= 599 ? code : unsaid.code,
  } as Status;
}

function detailsOf({ retryAfterSeconds, causes, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    ...(typeof retryAfterSeconds === "number" && retryAfterSeconds >= 0 && { retryAfterSeconds }),
    ...(Array.isArray(causes) && { causes: causes.filter(isJsonObject) }),
  };
}
