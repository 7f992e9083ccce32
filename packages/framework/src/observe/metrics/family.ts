import type { MetricDistribution, MetricFamily, MetricSample } from "../../virtual-workspace.ts";
/** A running histogram. */
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

/** A counter with labels of few values. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(label: string, by = 1): void {
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + by);
  }

  /** @param labels values present from the start: the rate of an event that has not occurred is 0 */
  samples(labels: readonly string[] = []): MetricSample[] {
    const all = new Set([...labels, ...this.#counts.keys()]);
    return [...all].map((label) => ({ labels: [label], value: this.#counts.get(label) ?? 0 }));
  }
}

/**
 * Counters of the server's parts: plain numbers, counted without a scrape too. Labels must have few values, never the name of
 * a user, cluster or object.
 */
export class Meters {
  /** Connections that ended during the TLS handshake. */
  tlsHandshakeErrors = 0;
  /** Requests rejected by limits, by reason: `queue-full`, `time-out`, … */
  readonly rejected: Tally = new Tally();
  /** Number of queued requests; set by the owner of the queues. */
  waiting: () => number = () => 0;

  families(): MetricFamily[] {
    return [
      {
        name: "apiserver_tls_handshake_errors_total",
        help: "Connections that ended during the TLS handshake.",
        type: "counter",
        labelNames: [],
        samples: [{ labels: [], value: this.tlsHandshakeErrors }],
      },
      {
        name: "apiserver_flowcontrol_rejected_requests_total",
        help: "Requests rejected by limits, by reason.",
        type: "counter",
        labelNames: ["reason"],
        samples: this.rejected.samples(),
      },
      {
        name: "apiserver_flowcontrol_current_inqueue_requests",
        help: "Number of queued requests.",
        type: "gauge",
        labelNames: [],
        samples: [{ labels: [], value: this.waiting() }],
      },
    ];
  }
}

/**
 * Returns one family for each name, and one series for each set of labels: scrapers reject others. Equal series, as of two servers
 * in a process, are added. A family whose type, labels or buckets differ from an earlier one's is left out.
 */
export function merged(families: readonly MetricFamily[]): readonly MetricFamily[] {
  const byName = new Map<string, MetricFamily[]>();
  for (const family of families) {
    const known = byName.get(family.name);
    if (known === undefined) byName.set(family.name, [family]);
    else if (shapeOf(known[0] as MetricFamily) === shapeOf(family)) known.push(family);
  }
  return [...byName.values()].map(joined);
}

function shapeOf(family: MetricFamily): string {
  return JSON.stringify([family.type, family.labelNames, family.type === "histogram" ? family.bounds : []]);
}

function joined(families: readonly MetricFamily[]): MetricFamily {
  const [first] = families as readonly [MetricFamily];
  const series = new Map<string, MetricSample | MetricDistribution>();
  for (const sample of families.flatMap(({ samples }): readonly (MetricSample | MetricDistribution)[] => samples)) {
    const key = JSON.stringify(sample.labels);
    const known = series.get(key);
    series.set(key, known === undefined ? sample : added(known, sample));
  }
  return { ...first, samples: [...series.values()] } as MetricFamily;
}

function added<S extends MetricSample | MetricDistribution>(one: S, other: S): MetricSample | MetricDistribution {
  const { labels } = one;
  if ("value" in one && "value" in other) return { labels, value: one.value + other.value };
  const [a, b] = [one, other] as readonly MetricDistribution[] as [MetricDistribution, MetricDistribution];
  const counts = a.counts.map((count, at) => count + (b.counts[at] ?? 0));
  return { labels, counts, count: a.count + b.count, sum: a.sum + b.sum };
}
