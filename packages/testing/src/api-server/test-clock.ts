import { timerDelay } from "@virtual-workspaces/transport";
import type { ServerClock } from "@virtual-workspaces/workspace-server";

interface Timer {
  /** Time of the clock, ms. */
  readonly due: number;
  readonly ring: () => void;
  handle: NodeJS.Timeout | undefined;
}

/**
 * Time of a test server, which runs like the machine's and which a test can advance. It decides when Events expire (an hour
 * after their last write), when tokens of service accounts expire, and when controllers of the server retry. Timestamps of
 * objects, time limits of requests and watches, delays of faults, and all time in clients stay those of the machine.
 */
export class TestClock implements ServerClock {
  #ahead = 0;
  readonly #timers = new Set<Timer>();

  /** Monotonic time, ms. */
  now(): number {
    return performance.now() + this.#ahead;
  }

  /** Date, ms since 1970. */
  date(): number {
    return Date.now() + this.#ahead;
  }

  /** Calls back once, after `ms` milliseconds or when {@link advance} has reached that time. */
  after(ms: number, ring: () => void): Disposable {
    const timer: Timer = { due: this.now() + ms, ring, handle: undefined };
    this.#timers.add(timer);
    this.#arm(timer);
    return { [Symbol.dispose]: () => this.#drop(timer) };
  }

  /**
   * Advances the time. What is due happens in its order before this returns; its effects on controllers and watches follow
   * within the server's usual time.
   *
   * @throws RangeError for a negative number
   */
  advance(milliseconds: number): void {
    if (!(milliseconds >= 0)) throw new RangeError(`invalid time ${milliseconds}: advance the clock by 0 or more ms`);
    const end = this.now() + milliseconds;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#ahead += Math.max(0, next.due - this.now());
      this.#drop(next);
      next.ring();
    }
    this.#ahead += Math.max(0, end - this.now());
    for (const timer of this.#timers) this.#arm(timer);
  }

  #next(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers)
      if (timer.due <= end && (first === undefined || timer.due < first.due)) first = timer;
    return first;
  }

  #arm(timer: Timer): void {
    clearTimeout(timer.handle);
    const ring = (): void => {
      if (this.now() < timer.due) this.#arm(timer);
      else {
        this.#drop(timer);
        timer.ring();
      }
    };
    timer.handle = setTimeout(ring, timerDelay(Math.max(0, Math.ceil(timer.due - this.now())))).unref();
  }

  #drop(timer: Timer): void {
    clearTimeout(timer.handle);
    this.#timers.delete(timer);
  }
}
