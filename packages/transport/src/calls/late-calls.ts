import { LONGEST_TIMER } from "../time/clock.ts";

/** A call that ends at its deadline. */
export interface Awaited {
  /** Deadline, by the monotonic clock, ms. */
  readonly by: number;
  /** Ends the call, since its deadline has passed. */
  expire(): void;
}

/**
 * Calls that wait for the head of a response, and end at their deadlines. One timer for all, which mostly finds none of those for
 * which it was set: a timer for each would cost as much as the rest of its deadline.
 */
export class LateCalls implements Disposable {
  readonly #waiting = new Set<Awaited>();
  #timer: NodeJS.Timeout | undefined;
  /** Time for which the timer is set. */
  #at = Number.POSITIVE_INFINITY;

  add(call: Awaited): void {
    if (call.by === Number.POSITIVE_INFINITY) return;
    this.#waiting.add(call);
    if (call.by < this.#at) this.#set(call.by);
    else if (this.#waiting.size === 1) this.#timer?.ref();
  }

  delete(call: Awaited): void {
    if (this.#waiting.delete(call) && this.#waiting.size === 0) this.#timer?.unref();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#at = Number.POSITIVE_INFINITY;
  }

  #set(by: number): void {
    clearTimeout(this.#timer);
    this.#at = by;
    const left = Math.ceil(by - performance.now());
    this.#timer = setTimeout(this.#look, Math.min(Math.max(left, 1), LONGEST_TIMER));
  }

  readonly #look = (): void => {
    this[Symbol.dispose]();
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    const late: Awaited[] = [];
    for (const call of this.#waiting) {
      if (call.by - now < 1) late.push(call);
      else if (call.by < next) next = call.by;
    }
    if (next !== Number.POSITIVE_INFINITY) this.#set(next);
    for (const call of late) {
      this.#waiting.delete(call);
      call.expire();
    }
  };
}
