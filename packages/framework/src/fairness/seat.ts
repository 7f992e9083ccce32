import { performance } from "node:perf_hooks";
import type { Exchange } from "../exchange.ts";
import type { UserShare } from "./share.ts";

/** Whoever gives out seats. */
export interface Seating {
  /** Gives back `width` of what the seat holds. */
  give(seat: Seat, width: number): void;
  /** Takes more for the seat than it has, whether there is any or not: what is under way goes on. */
  widen(seat: Seat, width: number): void;
  /** Takes a waiting request out of its queue. */
  leave(seat: Seat): void;
  /** It has had its seat for as long as anybody may. */
  overstay(seat: Seat): void;
}

/** A request's place among those under way, or in the queue before. Requests that are done in one go have none. */
export class Seat {
  readonly exchange: Exchange;
  readonly share: UserShare;
  readonly mutating: boolean;
  /** Their order of arrival. */
  readonly number: number;
  readonly #seating: Seating;
  /** How many places it takes; 0 when it has none: it waits, or is through. */
  width = 0;
  /** When it was taken. */
  since = 0;
  /** What ends its waiting; `undefined` when it does not wait. */
  turn: PromiseWithResolvers<void> | undefined;
  /** Of its time to wait, then of its time to sit. */
  timer: NodeJS.Timeout | undefined;
  #kept = false;

  constructor(
    seating: Seating,
    about: {
      readonly exchange: Exchange;
      readonly share: UserShare;
      readonly mutating: boolean;
      readonly number: number;
    },
  ) {
    this.#seating = seating;
    this.exchange = about.exchange;
    this.share = about.share;
    this.mutating = about.mutating;
    this.number = about.number;
  }

  /** Counts more than once from now on. */
  widen(width: number): void {
    if (this.width > 0 && width > this.width) this.#seating.widen(this, width);
  }

  /** Gives the seat back, or the place in the queue up. */
  release(): void {
    clearTimeout(this.timer);
    if (this.turn !== undefined) this.#seating.leave(this);
    else if (this.width > 0) this.#seating.give(this, this.width);
  }

  /** Keeps the seat beyond the pipeline, until `work` is done. Never longer than any seat. */
  keep(work: Promise<unknown>): void {
    this.#kept = true;
    const release = (): void => this.release();
    void work.then(release, release);
  }

  /** The pipeline is through: what goes on behind it is either somebody's who keeps the seat, or an answer that still goes out. */
  through(): void {
    const { answered, info, res } = this.exchange;
    if (this.#kept && !res.destroyed) return;
    if (answered && !info.longRunning && !res.writableEnded && !res.destroyed) res.once("close", () => this.release());
    else this.release();
  }
}

/**
 * What new requests may take of one turn of the event loop: it is what every client of a Node server shares. Costs a
 * glance at the clock; only when a slice is over, it is seen whether the turn is.
 */
export class Turn {
  readonly #length: number;
  #began = Number.NEGATIVE_INFINITY;
  #loop = -1;

  /** @param length ms */
  constructor(length: number) {
    this.#length = length;
  }

  /** Whether there is time left in this turn. */
  hasTime(now: number): boolean {
    if (now - this.#began < this.#length) return true;
    if (performance.nodeTiming.uvMetricsInfo.loopCount === this.#loop) return false;
    this.begin(now);
    return true;
  }

  /** Begins a slice, whatever has been taken of the turn already. */
  begin(now: number): void {
    this.#began = now;
    this.#loop = performance.nodeTiming.uvMetricsInfo.loopCount;
  }
}
