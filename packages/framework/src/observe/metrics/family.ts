/** One time series: its labels in the order of the family's names, and what is counted. */
export interface MetricSample {
  readonly labels: readonly string[];
  readonly value: number;
}

/** What a histogram has seen of one set of labels. */
export interface MetricDistribution {
  readonly labels: readonly string[];
  /** How many were at most each bound; not cumulated. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** A metric and all its series, as they are now. */
export type MetricFamily = {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
} & (
  | { readonly type: "counter" | "gauge"; readonly samples: readonly MetricSample[] }
  | {
      readonly type: "histogram";
      /** The upper bounds of its buckets, rising. */
      readonly bounds: readonly number[];
      readonly samples: readonly MetricDistribution[];
    }
);

/** A histogram's series, counted as it goes. */
export class Buckets implements MetricDistribution {
  readonly labels: readonly string[];
  readonly counts: number[];
  readonly #bounds: readonly number[];
  count = 0;
  sum = 0;

  constructor(labels: readonly string[], bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.count += 1;
    this.sum += value;
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at !== -1) this.counts[at] = (this.counts[at] as number) + 1;
  }
}

/** A counter with one label, or more, of few values. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(label: string, by = 1): void {
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + by);
  }

  /** @param labels those that are to be there from the beginning: a rate of what has not yet happened is 0 */
  samples(labels: readonly string[] = []): MetricSample[] {
    const all = new Set([...labels, ...this.#counts.keys()]);
    return [...all].map((label) => ({ labels: [label], value: this.#counts.get(label) ?? 0 }));
  }
}
