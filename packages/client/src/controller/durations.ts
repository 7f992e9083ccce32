/** Distribution of durations, as in a Prometheus histogram. */
export interface DurationsSnapshot {
  readonly count: number;
  /** Sum of all durations, in seconds. */
  readonly sum: number;
  /** Cumulative counts: `count` durations took at most `le` seconds. */
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
}

const BOUNDS = [0.001, 0.01, 0.1, 1, 10, 100, 1000];

/** Histogram of durations. */
export class Durations {
  readonly #counts: number[] = BOUNDS.map(() => 0);
  #count = 0;
  #sum = 0;

  observe(ms: number): void {
    const seconds = ms / 1000;
    this.#count++;
    this.#sum += seconds;
    const at = BOUNDS.findIndex((bound) => seconds <= bound);
    if (at !== -1) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  get snapshot(): DurationsSnapshot {
    let below = 0;
    const buckets = BOUNDS.map((le, at) => {
      below += this.#counts[at] ?? 0;
      return { le, count: below };
    });
    return { count: this.#count, sum: this.#sum, buckets };
  }
}
