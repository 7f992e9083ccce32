import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import { isStoreError } from "../store-error.ts";

/** `Retry-After` of a store that is unavailable, in seconds. */
const RETRY_AFTER = 1;

const NO_SPACE =
  "the storage is full: this request changed nothing, and reads continue; ask an administrator to free space";

const TOO_LARGE = "the object is too large for the storage: make it smaller, or move the large part elsewhere";

/** Runs a call of a store and converts its errors for clients. Synchronous if the store is. */
export function withApiErrors<R>(ask: () => Awaitable<R>): Awaitable<R> {
  try {
    const answer = ask();
    return answer instanceof Promise ? answer.catch(refuse) : answer;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  throw apiErrorOf(error);
}

/** Converts an error of a store for clients. Other errors, and bugs, stay as they are: a logged 500. */
export function apiErrorOf(error: unknown): unknown {
  if (!isStoreError(error)) return error;
  switch (error.code) {
    case "Compacted":
      return ApiError.expired(`too old resource version: ${error.message}`);
    case "Unavailable":
    case "Closed":
      return ApiError.serviceUnavailable("the storage is unavailable: try again", RETRY_AFTER);
    case "Unknown":
      return ApiError.timeout(
        "the outcome of this request is unknown: read the object before trying again",
        RETRY_AFTER,
      );
    case "TooLarge":
      return ApiError.requestEntityTooLarge(TOO_LARGE);
    case "NoSpace":
      return ApiError.insufficientStorage(NO_SPACE);
    default:
      return error;
  }
}
