import { isApiError } from "@virtual-workspaces/apimachinery";
import { Backoff, type BackoffOptions } from "@virtual-workspaces/transport";
import { retryAfterOf } from "../http/error-of.ts";
import type { LifecycleEvent } from "./events.ts";
import type { Counters } from "./metrics.ts";
import type { Position } from "./position.ts";
import { IncompleteStream, UpstreamFault } from "./upstream-fault.ts";

/** What came of a list or a watch. */
export interface Round {
  readonly way: "list" | "watchList" | "watch";
  readonly failure: Error | undefined;
  /** How long the watch was open, ms; `undefined` when it never was. */
  readonly lived: number | undefined;
  /** How long it took, ms. */
  readonly took: number;
  /** Whether a watch told anything new. */
  readonly progressed: boolean;
}

export interface RetriesOptions {
  readonly position: Position;
  readonly counters: Counters;
  readonly backoff: BackoffOptions | undefined;
  readonly tell: (event: LifecycleEvent) => void;
}

/** A watch that was open for so long, ms, worked; a server that ends them sooner is asked less and less often. */
const STEADY = 500;
/** Answers to a list by watch that say that there is no such thing. */
const REFUSED: readonly number[] = [400, 405, 406, 415, 422, 501];

/** What comes after a list or a watch: at once or later, and by which way everything is read. */
export class Retries {
  readonly #options: RetriesOptions;
  readonly #backoff: Backoff;
  /** Whether the server has lists by watch: it had one; it refused, or brought none to its end. */
  #known: boolean | undefined;
  #skip = false;

  constructor(options: RetriesOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
  }

  /** Whether everything is to be read by watch (WatchList). */
  get streams(): boolean {
    return !this.#skip && this.#known !== false;
  }

  /** It begins again. */
  reset(): void {
    this.#backoff.reset();
  }

  /** Everything was read. */
  read(): void {
    if (this.streams) this.#known = true;
    this.#skip = false;
  }

  /** How long to wait, ms. */
  after({ way, failure, lived, progressed, took }: Round): number {
    const steady = lived !== undefined && lived >= STEADY;
    if (steady) this.#backoff.reset();
    if (failure === undefined) {
      // A list that was read is no failure, nor a success that would hide those of watches.
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
    this.#options.tell({ type: "error", error: failure, retryIn });
    return retryIn;
  }

  /** One that told something new before it ended worked, if not for long. */
  #short(progressed: boolean, failure: Error | undefined, waited = 0): number {
    if (progressed) this.#backoff.reset();
    return this.#backoff.next({ retryAfter: retryAfterOf(failure), waited });
  }

  /** Everything is read anew: at once, unless that happens again and again. */
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
      // A server that once had them has them again, after a bad moment.
      if (refused || this.#known === undefined) this.#known = false;
      else this.#skip = true;
      this.#options.tell({ type: "fallback", cause: failure });
      return true;
    }
    // What is wrong with the stream need not be wrong with a list: that is tried next, after a while.
    this.#skip = failure instanceof UpstreamFault || (isApiError(failure) && failure.code === 500);
    return false;
  }
}

/** Whether the server has not come to our version yet: it never may. */
function isTooLarge(error: Error): boolean {
  return (
    isApiError(error) &&
    error.code === 504 &&
    (error.status.details?.causes ?? []).some(({ reason }) => reason === "ResourceVersionTooLarge")
  );
}
