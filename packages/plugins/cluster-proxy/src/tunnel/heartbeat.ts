/** Options of the heartbeat. */
export interface HeartbeatOptions {
  /**
   * Interval between pings, ms. The other end counts as gone after two unanswered pings without other data, so at most after three
   * intervals.
   * @default 4500
   */
  readonly interval?: number;
}

const INTERVAL = 4_500;
const UNANSWERED = 2;

/** Pings the other end of a tunnel: TCP may not report a dead connection for hours. */
export class Heartbeat implements Disposable {
  /** Time of the last pong, by `performance.now()`, and its round-trip time, ms; `undefined` before the first. */
  last: { readonly at: number; readonly roundTrip: number } | undefined;
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;
  #read = 0;

  /** @throws Error on an invalid interval */
  constructor({ interval = INTERVAL }: HeartbeatOptions, { ping, read, dead }: HeartbeatTarget) {
    if (!(interval > 0)) throw new Error("invalid heartbeat.interval: use more than 0 ms");
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

  /** Records a pong. @param roundTrip ms */
  answered(roundTrip: number): void {
    this.#unanswered = 0;
    this.last = { at: performance.now(), roundTrip };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Functions of the end that the heartbeat uses. */
export interface HeartbeatTarget {
  /** Sends a ping. */
  readonly ping: () => void;
  /** Returns the number of received bytes: an end that sends data is alive, even if its pong is delayed behind it. */
  readonly read: () => number;
  /** Called once when the other end is gone. */
  readonly dead: () => void;
}
