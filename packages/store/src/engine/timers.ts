import { type Clock, timerDelay } from "@virtual-workspaces/transport";

interface Expiry {
  /** Time of the clock, in ms. */
  readonly deadline: number;
  readonly timer: Disposable;
}

/** The machine's clock, whose timers do not keep the process alive. */
const machine: Clock = {
  now: () => performance.now(),
  after: (ms, ring) => {
    const timer = setTimeout(ring, timerDelay(Math.ceil(ms))).unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/** Timers of leases. They do not keep the process alive. */
export class Expiries {
  readonly #over: (id: string) => void;
  readonly #clock: Clock;
  readonly #expiries = new Map<string, Expiry>();

  /** @param over called once for each expired lease; must not throw */
  constructor(over: (id: string) => void, clock: Clock = machine) {
    this.#over = over;
    this.#clock = clock;
  }

  /** Sets a lease to expire in `seconds`, and replaces its earlier timer. */
  set(id: string, seconds: number): void {
    this.delete(id);
    this.#arm(id, this.#clock.now() + seconds * 1000);
  }

  /** Returns the remaining time of a lease, in seconds; `undefined` for an unknown lease. */
  remaining(id: string): number | undefined {
    const expiry = this.#expiries.get(id);
    return expiry && Math.max(0, expiry.deadline - this.#clock.now()) / 1000;
  }

  delete(id: string): void {
    this.#expiries.get(id)?.timer[Symbol.dispose]();
    this.#expiries.delete(id);
  }

  /** Removes all timers. */
  clear(): void {
    for (const { timer } of this.#expiries.values()) timer[Symbol.dispose]();
    this.#expiries.clear();
  }

  #arm(id: string, deadline: number): void {
    const ring = (): void => {
      if (this.#clock.now() < deadline) {
        this.#arm(id, deadline);
        return;
      }
      this.#expiries.delete(id);
      this.#over(id);
    };
    const timer = this.#clock.after(Math.max(1, deadline - this.#clock.now()), ring);
    this.#expiries.set(id, { deadline, timer });
  }
}
