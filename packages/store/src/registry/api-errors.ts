import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import { isStoreError } from "../store-error.ts";

/** After how long a client may come back to a store that is away, s. */
const RETRY_AFTER = 1;

const NO_SPACE =
  "there is no space left where the objects are kept: nothing was changed; reading goes on, an administrator must make room";

const TOO_LARGE = "what keeps the objects takes none of this size: make it smaller, or keep the large part elsewhere";

/** What a store gives, its errors as clients are told of them; at once where the store answers at once. */
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

/** What clients are told of a store's error. Others, and mistakes of ours, stay what they are: a 500 that is logged. */
export function apiErrorOf(error: unknown): unknown {
  if (!isStoreError(error)) return error;
  switch (error.code) {
    case "Compacted":
      return ApiError.expired(`too old resource version: ${error.message}`);
    case "Unavailable":
    case "Closed":
      return ApiError.serviceUnavailable("what keeps the objects cannot be reached for now: try again", RETRY_AFTER);
    case "Unknown":
      return ApiError.timeout(
        "it is not known whether this was done: read the object before trying again",
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
