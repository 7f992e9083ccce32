import { ApiError, isJsonObject, quote, type StatusDetails } from "@virtual-workspaces/apimachinery";
import type { ReviewResponse } from "./review.ts";
import type { Webhook } from "./webhook.ts";

/** Failed call of a webhook, which its failure policy decides about. */
export class WebhookCallError extends Error {
  override readonly name = "WebhookCallError";

  /** @param what the failed step, such as `failed to call webhook` */
  constructor(webhook: Pick<Webhook, "name">, what: string, reason: string) {
    super(`failed calling webhook ${quote(webhook.name)}: ${what}: ${reason}`);
  }
}

/** Returns the error of a rejected request (Kubernetes' ToStatusErr). */
export function rejection({ name }: Pick<Webhook, "name">, { result }: ReviewResponse): ApiError {
  const denied = `admission webhook ${quote(name)} denied the request`;
  const { code, message, reason, details } = result;
  const why = typeof message === "string" && message !== "" ? message : reason;
  const isCode = typeof code === "number" && Number.isInteger(code) && code >= 400 && code <= 599;
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: typeof why === "string" && why !== "" ? `${denied}: ${why}` : `${denied} without explanation`,
    ...(typeof reason === "string" && reason !== "" && { reason: reason as never }),
    ...(isJsonObject(details) && { details: detailsOf(details) }),
    code: isCode ? code : 400,
  });
}

/** Returns the details that have the types of a Status: clients read them, and one of them becomes a header. */
function detailsOf(sent: Readonly<Record<string, unknown>>): StatusDetails {
  const { causes, retryAfterSeconds: seconds } = sent;
  const isDelay = typeof seconds === "number" && Number.isInteger(seconds) && seconds >= 0;
  return {
    ...textsIn(sent, ["name", "group", "kind", "uid"]),
    ...(Array.isArray(causes) && {
      causes: causes.filter(isJsonObject).map((cause) => textsIn(cause, ["reason", "message", "field"])),
    }),
    ...(isDelay && { retryAfterSeconds: seconds }),
  };
}

function textsIn(fields: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  const found = names.map((name) => [name, fields[name]] as const);
  return Object.fromEntries(found.filter(([, value]) => typeof value === "string"));
}

/** Returns the error of a dry run for a webhook with side effects. */
export function dryRunRejection({ name }: Pick<Webhook, "name">): ApiError {
  return ApiError.badRequest(`admission webhook ${quote(name)} does not support dry run`);
}
