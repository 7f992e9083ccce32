import { LONGEST_TIMER } from "./clock.ts";

/** Timer of any length; `Infinity` ms never fires. */
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

/** Calls back when a wait lasts too long. To begin a wait only reads the clock: the timer is set again only when it fires. */
export class IdleTimer {
  /** Never calls back. */
  static readonly endless: IdleTimer = new IdleTimer(Number.POSITIVE_INFINITY, () => undefined);
  readonly #ms: number;
  readonly #call: () => void;
  #since: number | undefined;
  #timer: Timer | undefined;

  constructor(ms: number, call: () => void) {
    this.#ms = ms;
    this.#call = call;
  }

  /** Begins a wait now, in place of an earlier one. */
  begin(): void {
    if (this.#ms === Number.POSITIVE_INFINITY) return;
    this.#since = performance.now();
    this.#timer ??= new Timer(this.#ms, this.#look);
  }

  /** Ends the wait. */
  rest(): void {
    this.#since = undefined;
  }

  /** Stops the timer for good. */
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
