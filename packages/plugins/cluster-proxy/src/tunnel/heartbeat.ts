/** When an end asks whether the other is there. */
export interface HeartbeatOptions {
  /** Between two questions, ms. The other end is gone when two of them had no answer and nothing else has come: at most three times this after it went. @default 4500 */
  readonly interval?: number;
}

const INTERVAL = 4_500;
const UNANSWERED = 2;

/** Asks the other end of a tunnel again and again whether it is there: a connection can be dead for hours, and nothing says so. */
export class Heartbeat implements Disposable {
  /** When the last answer came, as of `performance.now()`, and how long it took, ms; `undefined` before the first. */
  last: { readonly at: number; readonly roundTrip: number } | undefined;
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;
  #read = 0;

  /** @throws Error on an interval that cannot be used */
  constructor({ interval = INTERVAL }: HeartbeatOptions, { ping, read, dead }: HeartbeatTarget) {
    if (!(interval > 0)) throw new Error("heartbeat.interval: give milliseconds, more than 0");
    this.#timer = setInterval(() => {
      const now = read();
      if (now > this.#read) this.#unanswered = 0;
      this.#read = now;
      if (this.#unanswered >= UNANSWERED) {
        this[Symbol.dispose]();
        dead();
        return;
      }
      this.#unanswered += 1;
      ping();
    }, interval);
    this.#timer.unref();
  }

  /** The other end has answered. @param roundTrip ms */
  answered(roundTrip: number): void {
    this.#unanswered = 0;
    this.last = { at: performance.now(), roundTrip };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** What is looked at, and who is told. */
export interface HeartbeatTarget {
  /** Asks the other end. */
  readonly ping: () => void;
  /** How many bytes have come: whoever sends is there, though its answer waits behind what it sends. */
  readonly read: () => number;
  /** Told once, when the other end is gone. */
  readonly dead: () => void;
}
