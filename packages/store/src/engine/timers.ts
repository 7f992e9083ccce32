import { timerDelay } from "@virtual-workspaces/transport";

interface Expiry {
  /** Time of the `performance` clock, in ms. */
  readonly deadline: number;
  readonly timer: NodeJS.Timeout;
}

/** Timers of leases. They do not keep the process alive. */
export class Expiries {
  readonly #over: (id: string) => void;
  readonly #expiries = new Map<string, Expiry>();

  /** @param over called once for each expired lease; must not throw */
  constructor(over: (id: string) => void) {
    this.#over = over;
  }

  /** Sets a lease to expire in `seconds`, and replaces its earlier timer. */
  set(id: string, seconds: number): void {
    this.delete(id);
    this.#arm(id, performance.now() + seconds * 1000);
  }

  /** Returns the remaining time of a lease, in seconds; `undefined` for an unknown lease. */
  remaining(id: string): number | undefined {
    const expiry = this.#expiries.get(id);
    return expiry && Math.max(0, expiry.deadline - performance.now()) / 1000;
  }

  delete(id: string): void {
    clearTimeout(this.#expiries.get(id)?.timer);
    this.#expiries.delete(id);
  }

  /** Removes all timers. */
  clear(): void {
    for (const { timer } of this.#expiries.values()) clearTimeout(timer);
    this.#expiries.clear();
  }

  #arm(id: string, deadline: number): void {
    const ring = (): void => {
      if (performance.now() < deadline) {
        this.#arm(id, deadline);
        return;
      }
      this.#expiries.delete(id);
      this.#over(id);
    };
    const timer = setTimeout(ring, timerDelay(Math.max(1, Math.ceil(deadline - performance.now()))));
    this.#expiries.set(id, { deadline, timer: timer.unref() });
  }
}
