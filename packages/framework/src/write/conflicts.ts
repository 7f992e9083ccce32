import { ApiError, isApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { Pace } from "@virtual-workspaces/transport";
import type { RequestOptions } from "../storage.ts";

/** A final conflict of a write: a retry in a layer above would be useless. */
export class LastingConflict extends ApiError {}

/** Makes a conflict final, and returns other errors unchanged. */
export function lasting(error: unknown): unknown {
  return isApiError(error) && error.reason === "Conflict" ? new LastingConflict(error.status) : error;
}

/** Signals that another write came between reading an object and replacing it. */
class Raced {
  readonly conflict: ApiError;

  constructor(conflict: ApiError) {
    this.conflict = conflict;
  }
}

/** Returns a conflict that {@link untilUndisturbed} retries: the object was created after it was read as missing. */
export function createConflict(conflict: ApiError): unknown {
  return new Raced(conflict);
}

/** Object on which an attempt at a write is based. */
interface Read {
  readonly object: KubeObject;
}

/** Finds a conflict that lasts: one that was no race, because the object is still what the attempt before has read. */
export class Basis {
  #conflict: ApiError | undefined;
  #read: Read | undefined;

  /** Takes the object of the next attempt. @throws LastingConflict if the attempt before failed on an equal one */
  take(read: Read | undefined): void {
    const before = this.#read;
    this.#read = read;
    if (this.#conflict === undefined || before === undefined || read === undefined) return;
    if (equalJson(before.object, read.object)) throw lasting(this.#conflict);
  }

  /** Takes the conflict of an attempt. */
  failed(conflict: ApiError): void {
    this.#conflict = conflict;
  }
}

/** Request that ends when the client disconnects, or its time is over. */
export type Cancellable = Pick<RequestOptions, "signal" | "cancellation">;

/** Reads the signal only where there is nothing cheaper. @throws the reason of a request that has ended */
export function throwIfCancelled(request: Cancellable): void {
  const { cancellation } = request;
  if (cancellation === undefined) request.signal.throwIfAborted();
  else if (cancellation.cancelled) throw cancellation.reason;
}

/** Maximum number of attempts at a write. In each failed one, another write succeeded. */
const ATTEMPTS = 100;

/**
 * Repeats a read and write until no other write comes between.
 *
 * @param attempt reads and writes; it may give the basis what it has read
 * @throws ApiError 409 when others always do, or the basis stays the same
 */
export async function untilUndisturbed<R>(request: Cancellable, attempt: (basis: Basis) => Promise<R>): Promise<R> {
  const pace = new Pace();
  const basis = new Basis();
  for (let count = 1; ; count++) {
    try {
      return await attempt(basis);
    } catch (error) {
      if (!(error instanceof Raced)) throw error;
      if (count === ATTEMPTS) throw lasting(error.conflict);
      basis.failed(error.conflict);
      if (pace.isOver) await pace.rest();
      throwIfCancelled(request);
    }
  }
}

/**
 * Runs the write of an attempt, whose conflict is a race. Writes nothing when the client has disconnected or its request has
 * timed out.
 */
export async function racing<R>(request: Cancellable, write: () => Promise<R> | R): Promise<R> {
  throwIfCancelled(request);
  try {
    return await write();
  } catch (error) {
    const isRace = isApiError(error) && error.reason === "Conflict" && !(error instanceof LastingConflict);
    throw isRace ? new Raced(error) : error;
  }
}
