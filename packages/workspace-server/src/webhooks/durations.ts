import type { MetricDistribution } from "@virtual-workspaces/framework/server";

/** Durations of admission, as a histogram for each combination of labels. */
export class LabelledDurations {
  readonly #bounds: readonly number[];
  readonly #byLabels = new Map<string, Durations>();

  /** @param bounds of the buckets, in seconds */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  observe(labels: readonly string[], seconds: number): void {
    const key = labels.join();
    const known = this.#byLabels.get(key) ?? { labels, counts: this.#bounds.map(() => 0), count: 0, sum: 0 };
    known.count += 1;
    known.sum += seconds;
    const at = this.#bounds.findIndex((bound) => seconds <= bound);
    if (at !== -1) known.counts[at] = (known.counts[at] ?? 0) + 1;
    this.#byLabels.set(key, known);
  }

  get samples(): readonly MetricDistribution[] {
    return [...this.#byLabels.values()];
  }
}

interface Durations {
  readonly labels: readonly string[];
  readonly counts: number[];
  count: number;
  sum: number;
}
