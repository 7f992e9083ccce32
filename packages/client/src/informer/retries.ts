import { isApiError } from "@virtual-workspaces/apimachinery";
import { Backoff, type BackoffOptions } from "@virtual-workspaces/transport";
import { retryAfterOf } from "../http/answer.ts";
import { IncompleteStream, UpstreamFault } from "./checked.ts";
import type { Counters, LifecycleEvent } from "./events.ts";
import type { Position } from "./position.ts";

/** Outcome of a list or watch. */
export interface Round {
  readonly way: "list" | "watchList" | "watch";
  readonly failure: Error | undefined;
  /** Time that the watch was open, in ms; `undefined` if it never opened. */
  readonly lived: number | undefined;
  /** Duration, in ms. */
  readonly took: number;
  /** Whether a watch sent new events. */
  readonly progressed: boolean;
}

export interface RetriesOptions {
  readonly position: Position;
  readonly counters: Counters;
  readonly backoff: BackoffOptions | undefined;
  /** @param wasOpen whether the failed attempt had opened a watch */
  readonly tell: (event: LifecycleEvent, wasOpen?: boolean) => void;
}

/** Lifetime after which a watch counts as successful, in ms. After shorter ones the backoff grows. */
const STEADY = 500;
/** Status codes that mean that the server has no lists by watch. */
const REFUSED: readonly number[] = [400, 405, 406, 415, 422, 501];

/** Decides after each list or watch when to retry, and whether to list by watch or in pages. */
export class Retries {
  readonly #options: RetriesOptions;
  readonly #backoff: Backoff;
  /** Whether the server supports lists by watch: true after one, false after a rejection or an incomplete one. */
  #known: boolean | undefined;
  #skip = false;

  constructor(options: RetriesOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
  }

  /** Whether the next list uses a watch (WatchList). */
  get streams(): boolean {
    return !this.#skip && this.#known !== false;
  }

  /** Resets the backoff. */
  reset(): void {
    this.#backoff.reset();
  }

  /** Records a complete list. */
  read(): void {
    if (this.streams) this.#known = true;
    this.#skip = false;
  }

  /** Returns the delay before the next attempt, in ms. */
  after({ way, failure, lived, progressed, took }: Round): number {
    const steady = lived !== undefined && lived >= STEADY;
    if (steady) this.#backoff.reset();
    if (failure === undefined) {
      // A successful list must not reset the backoff of failing watches.
      if (steady || way === "list") return 0;
      return this.#short(progressed, undefined);
    }
    if (isApiError(failure) && failure.code === 410 && this.#options.position.version !== "")
      return this.#expired(failure);
    if (way === "watchList" && this.#fallsBack(failure)) return 0;
    if (isTooLarge(failure)) this.#options.position.lose("rewound");
    const waited = lived === undefined ? took : 0;
    const retryIn = Math.round(this.#short(progressed, failure, waited));
    this.#options.counters.errors += 1;
    this.#options.tell({ type: "error", error: failure, retryIn }, lived !== undefined);
    return retryIn;
  }

  /** A short watch that sent new events counts as successful. */
  #short(progressed: boolean, failure: Error | undefined, waited = 0): number {
    if (progressed) this.#backoff.reset();
    return this.#backoff.next({ retryAfter: retryAfterOf(failure), waited });
  }

  /** Requests a relist: at once the first time, then with backoff. */
  #expired(error: Error): number {
    const { position, counters, tell } = this.#options;
    const first = this.#backoff.failures === 0;
    const wait = this.#backoff.next();
    counters.expired += 1;
    position.lose("expired");
    tell({ type: "expired", error });
    return first ? 0 : wait;
  }

  #fallsBack(failure: Error): boolean {
    const refused = isApiError(failure) && REFUSED.includes(failure.code);
    if (refused || failure instanceof IncompleteStream) {
      // A server that has completed one is used with lists by watch again later.
      if (refused || this.#known === undefined) this.#known = false;
      else this.#skip = true;
      this.#options.tell({ type: "fallback", cause: failure });
      return true;
    }
    // If only the stream is wrong, a list may work: use one for the next attempt, after the backoff.
    this.#skip = failure instanceof UpstreamFault || (isApiError(failure) && failure.code === 500);
    return false;
  }
}

/** Returns whether the server has not reached our version yet, which may never happen. */
function isTooLarge(error: Error): boolean {
  return (
    isApiError(error) &&
    error.code === 504 &&
    (error.status.details?.causes ?? []).some(({ reason }) => reason === "ResourceVersionTooLarge")
  );
}
