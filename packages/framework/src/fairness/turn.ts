import { performance } from "node:perf_hooks";

/**
 * What new requests may take of one turn of the event loop: it is what every client of a Node server shares. Costs a
 * glance at the clock; only when a slice is over, it is seen whether the turn is.
 */
export class Turn {
  readonly #length: number;
  #began = Number.NEGATIVE_INFINITY;
  #loop = -1;

  /** @param length ms */
  constructor(length: number) {
    this.#length = length;
  }

  /** Whether there is time left in this turn. */
  hasTime(now: number): boolean {
    if (now - this.#began < this.#length) return true;
    if (performance.nodeTiming.uvMetricsInfo.loopCount === this.#loop) return false;
    this.begin(now);
    return true;
  }

  /** Begins a slice, whatever has been taken of the turn already. */
  begin(now: number): void {
    this.#began = now;
    this.#loop = performance.nodeTiming.uvMetricsInfo.loopCount;
  }
}
