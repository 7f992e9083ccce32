import { timerDelay } from "@virtual-workspaces/transport";

interface Expiry {
  /** By the clock of `performance`, ms. */
  readonly deadline: number;
  readonly timer: NodeJS.Timeout;
}

/** When leases end. Their timers do not keep the process alive. */
export class Expiries {
  readonly #over: (id: string) => void;
  readonly #expiries = new Map<string, Expiry>();

  /** @param over hears once of each lease whose time is over; must not throw */
  constructor(over: (id: string) => void) {
    this.#over = over;
  }

  /** Lets a lease end in `seconds`, whatever was said of it before. */
  set(id: string, seconds: number): void {
    this.delete(id);
    this.#arm(id, performance.now() + seconds * 1000);
  }

  /** What is left of a lease, s; `undefined`: it is not known. */
  remaining(id: string): number | undefined {
    const expiry = this.#expiries.get(id);
    return expiry && Math.max(0, expiry.deadline - performance.now()) / 1000;
  }

  delete(id: string): void {
    clearTimeout(this.#expiries.get(id)?.timer);
    this.#expiries.delete(id);
  }

  /** Forgets all of them. */
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
