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
  return joined(families, () => sum);
}

/**
 * Returns the metrics of several processes as those of one. Counters, histograms and gauges of amounts are added. Of gauges of times and
 * versions (`*_seconds`, `*_info`, `*_max_fds`) the largest counts, so a lag is that of the slowest process; of `process_start_time_seconds`
 * and of gauges whether something is ready (`*_ready`) the smallest.
 *
 * @param processes families of each process
 */
export function sumOfMetrics(processes: readonly (readonly MetricFamily[])[]): readonly MetricFamily[] {
  return joined(processes.flat(), ruleOf);
}

type Rule = (one: number, other: number) => number;

const sum: Rule = (one, other) => one + other;

function ruleOf({ type, name }: MetricFamily): Rule {
  if (type !== "gauge") return sum;
  if (name === "process_start_time_seconds" || name.endsWith("_ready")) return Math.min;
  return /_(seconds|info|max_fds)$/.test(name) ? Math.max : sum;
}

function joined(families: readonly MetricFamily[], rule: (family: MetricFamily) => Rule): readonly MetricFamily[] {
  const byName = new Map<string, MetricFamily[]>();
  for (const family of families) {
    const known = byName.get(family.name);
    if (known === undefined) byName.set(family.name, [family]);
    else if (shapeOf(known[0] as MetricFamily) === shapeOf(family)) known.push(family);
  }
  return [...byName.values()].map((same) => one(same, rule(same[0] as MetricFamily)));
}

function shapeOf(family: MetricFamily): string {
  return JSON.stringify([family.type, family.labelNames, family.type === "histogram" ? family.bounds : []]);
}

function one(families: readonly MetricFamily[], rule: Rule): MetricFamily {
  const [first] = families as readonly [MetricFamily];
  const series = new Map<string, MetricSample | MetricDistribution>();
  for (const sample of families.flatMap(({ samples }): readonly (MetricSample | MetricDistribution)[] => samples)) {
    const key = JSON.stringify(sample.labels);
    const known = series.get(key);
    series.set(key, known === undefined ? sample : added(known, sample, rule));
  }
  return { ...first, samples: [...series.values()] } as MetricFamily;
}

function added<S extends MetricSample | MetricDistribution>(
  one: S,
  other: S,
  rule: Rule,
): MetricSample | MetricDistribution {
  const { labels } = one;
  if ("value" in one && "value" in other) {
    // The delay of the event loop is not a number until it has been measured.
    if (Number.isNaN(one.value) || Number.isNaN(other.value)) return Number.isNaN(one.value) ? other : one;
    return { labels, value: rule(one.value, other.value) };
  }
  const [a, b] = [one, other] as readonly MetricDistribution[] as [MetricDistribution, MetricDistribution];
  const counts = a.counts.map((count, at) => count + (b.counts[at] ?? 0));
  return { labels, counts, count: a.count + b.count, sum: a.sum + b.sum };
}
