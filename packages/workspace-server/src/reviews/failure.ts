import { isApiError } from "@virtual-workspaces/apimachinery";
import type { Log, RequestOptions } from "@virtual-workspaces/framework";

/** What may be told to a caller of what went wrong in a review: an ApiError as it stands, of anything else where to look. */
export function failureOf(error: unknown, { requestId }: Pick<RequestOptions, "requestId">, log: Log): string {
  if (isApiError(error)) return error.message;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log({ level: "error", message: "review failed", requestId, error: text });
  return `the question could not be answered: the server's log says why, under request ${requestId}`;
}
