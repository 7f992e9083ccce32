import { type MetricFamily, Tally } from "./family.ts";

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
