import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { Pace } from "@virtual-workspaces/transport";

/** A conflict that is the last word on a write: to try it again, above, would be no use. */
export class LastingConflict extends ApiError {}

/** The same error, if it is a conflict as one that lasts. */
export function lasting(error: unknown): unknown {
  return isApiError(error) && error.reason === "Conflict" ? new LastingConflict(error.status) : error;
}

/** Somebody else's write came between reading an object and replacing it. */
class Raced {
  readonly conflict: ApiError;

  constructor(conflict: ApiError) {
    this.conflict = conflict;
  }
}

/** What {@link untilUndisturbed} takes for a race: an object was created that was not there when it was read. */
export function createConflict(conflict: ApiError): unknown {
  return new Raced(conflict);
}

/** How often a write is tried that others get in the way of: each time, somebody else's has gone through. */
const ATTEMPTS = 100;

/**
 * Tries a read and write until nobody comes between.
 *
 * @throws ApiError 409 when others always do
 */
export async function untilUndisturbed<R>(signal: AbortSignal, attempt: () => Promise<R>): Promise<R> {
  const pace = new Pace();
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Raced)) throw error;
      if (count === ATTEMPTS) throw lasting(error.conflict);
      if (pace.isOver) await pace.rest();
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
    const isRace = isApiError(error) && error.reason === "Conflict" && !(error instanceof LastingConflict);
    throw isRace ? new Raced(error) : error;
  }
}
