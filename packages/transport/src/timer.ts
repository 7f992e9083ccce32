import { LONGEST_TIMER } from "./clock.ts";

/** Calls back once, after however long; never after `Infinity` ms. */
export class Timer {
  readonly #at: number;
  readonly #call: () => void;
  #timeout: NodeJS.Timeout | undefined;

  constructor(ms: number, call: () => void) {
    this.#at = performance.now() + ms;
    this.#call = call;
    if (ms !== Number.POSITIVE_INFINITY) this.#set(ms);
  }

  clear(): void {
    clearTimeout(this.#timeout);
  }

  #set(ms: number): void {
    this.#timeout = setTimeout(this.#look, Math.min(Math.max(Math.ceil(ms), 1), LONGEST_TIMER));
  }

  readonly #look = (): void => {
    const left = this.#at - performance.now();
    if (left >= 1) this.#set(left);
    else this.#call();
  };
}

/**
 * Calls back when a wait lasts too long. Beginning a wait costs a look at the clock: the timer is set anew only when it
 * runs out.
 */
export class Patience {
  readonly #ms: number;
  readonly #call: () => void;
  #since: number | undefined;
  #timer: Timer | undefined;

  constructor(ms: number, call: () => void) {
    this.#ms = ms;
    this.#call = call;
  }

  /** A wait begins now; an earlier one is over. */
  begin(): void {
    this.#since = performance.now();
    this.#timer ??= new Timer(this.#ms, this.#look);
  }

  /** Nobody waits. */
  rest(): void {
    this.#since = undefined;
  }

  /** For ever. */
  stop(): void {
    this.rest();
    this.#timer?.clear();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    if (this.#since === undefined) return;
    const left = this.#since + this.#ms - performance.now();
    if (left >= 1) this.#timer = new Timer(left, this.#look);
    else this.#call();
  };
}
