import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { ProviderBusy } from "../../provider/provider-calls.ts";
import { ProviderLate } from "../../provider/within.ts";

/** What a provider throws on purpose, and clients act upon: its own credentials, and what it asks others for, are nobody's business. */
const PASSED: ReadonlySet<number> = new Set([400, 409, 429, 503, 504]);

/** What whoever asks is told of what a provider has thrown: its message, as those of Spaces are told it. */
export function answerTo(error: unknown): ApiError {
  if (error instanceof ProviderBusy) return ApiError.tooManyRequests(error.message, Math.ceil(error.retryAfter / 1000));
  if (error instanceof ProviderLate) return ApiError.timeout(error.message, 1);
  if (isApiError(error) && PASSED.has(error.code)) return error;
  return ApiError.internalError(error instanceof Error ? error.message : String(error));
}
