import type { MetricDistribution, MetricFamily, MetricSample } from "../../virtual-workspace.ts";
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

/**
 * What the parts of a server count by themselves, whether somebody looks or not: plain numbers. Labels must be of few
 * values, never a user's, a cluster's or an object's name.
 */
export class Meters {
  /** Connections that ended before they were TLS. */
  tlsHandshakeErrors = 0;
  /** Requests turned away by limits, by reason: `queue-full`, `time-out`, … */
  readonly rejected: Tally = new Tally();
  /** Requests that wait for their turn; whoever has queues says so here. */
  waiting: () => number = () => 0;

  families(): MetricFamily[] {
    return [
      {
        name: "apiserver_tls_handshake_errors_total",
        help: "Connections that ended within the TLS handshake.",
        type: "counter",
        labelNames: [],
        samples: [{ labels: [], value: this.tlsHandshakeErrors }],
      },
      {
        name: "apiserver_flowcontrol_rejected_requests_total",
        help: "Requests turned away by limits, by reason.",
        type: "counter",
        labelNames: ["reason"],
        samples: this.rejected.samples(),
      },
      {
        name: "apiserver_flowcontrol_current_inqueue_requests",
        help: "Requests that wait for their turn, at this moment.",
        type: "gauge",
        labelNames: [],
        samples: [{ labels: [], value: this.waiting() }],
      },
    ];
  }
}
