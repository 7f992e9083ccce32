import type { Clock } from "@virtual-workspaces/client";

/** Clock that a test advances. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ readonly due: number; readonly ring: () => void }>();

  now(): number {
    return this.#now;
  }

  get timers(): number {
    return this.#timers.size;
  }

  after(ms: number, ring: () => void): Disposable {
    const timer = { due: this.#now + ms, ring };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** Advances the time, timer by timer. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.due);
      this.#timers.delete(next);
      next.ring();
    }
    this.#now = end;
  }
}
