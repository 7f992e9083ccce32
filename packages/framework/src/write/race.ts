import { type ApiError, isApiError } from "@virtual-workspaces/apimachinery";

/** Somebody else's write came between reading an object and replacing it. */
class Raced {
  readonly conflict: ApiError;

  constructor(conflict: ApiError) {
    this.conflict = conflict;
  }
}

/** How often a write is tried that others get in the way of: each time, somebody else's has gone through. */
const ATTEMPTS = 100;

/**
 * Tries a read and write until nobody comes between. `again` is false on the first attempt.
 *
 * @throws ApiError 409 when others always do
 */
export async function untilUndisturbed<R>(signal: AbortSignal, attempt: (again: boolean) => Promise<R>): Promise<R> {
  for (let count = 1; ; count++) {
    try {
      return await attempt(count > 1);
    } catch (error) {
      if (!(error instanceof Raced)) throw error;
      if (count === ATTEMPTS) throw error.conflict;
      signal.throwIfAborted();
    }
  }
}

/**
 * Runs the writing part of an attempt: a conflict there is a race. Nothing is written for a client that has left, or has
 * been told that it took too long.
 */
export async function racing<R>(signal: AbortSignal, write: () => Promise<R> | R): Promise<R> {
  signal.throwIfAborted();
  try {
    return await write();
  } catch (error) {
    throw isApiError(error) && error.reason === "Conflict" ? new Raced(error) : error;
  }
}
