import type { MetricFamily, MetricSample } from "../../virtual-workspace.ts";
import { codeOf, type ObservedRequest, type Observer } from "../observer.ts";
import { Buckets, Tally } from "./family.ts";
import { labelsOf, REQUEST_LABELS, type RequestLabels } from "./labels.ts";
import { ListMeter } from "./list-meter.ts";

/** Kubernetes' own bounds: seconds, bytes. */
const SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/** Limit of label sets; a discovery hook's further ones are counted together. */
const MOST = 2_000;
const REST: RequestLabels = ["other", "other", "other", "other", "other", "other", "other"];

interface Series {
  readonly labels: RequestLabels;
  /** Counts by status code. */
  readonly codes: Map<number, number>;
  readonly seconds: Buckets;
  readonly bytes: Buckets;
}

/** Counts requests. Cheap per request; families are built on a scrape. */
export class RequestMeter implements Observer {
  readonly #series = new Map<string, Series>();
  /** Requests under way, including long-running ones. */
  readonly #open = { readOnly: 0, mutating: 0 };
  readonly #long = new Set<ObservedRequest>();
  readonly #lists = new ListMeter();
  readonly #authentication = new Tally();
  readonly #authorization = new Tally();

  began(request: ObservedRequest): void {
    this.#open[kindOf(request)] += 1;
  }

  started(request: ObservedRequest): void {
    this.#open[kindOf(request)] -= 1;
    this.#long.add(request);
  }

  ended(request: ObservedRequest): void {
    const wasLong = request.info?.longRunning === true && this.#long.delete(request);
    if (!wasLong) this.#open[kindOf(request)] -= 1;
    const code = codeOf(request);
    const { codes, seconds, bytes } = this.#seriesOf(labelsOf(request));
    codes.set(code, (codes.get(code) ?? 0) + 1);
    seconds.observe((performance.now() - request.startedAt) / 1000);
    const length = request.res.getHeader("content-length");
    if (length !== undefined) bytes.observe(Number(length));
    this.#lists.count(request);
    this.#countVerdicts(request, code);
  }

  /** Returns all metrics. */
  families(): MetricFamily[] {
    const all = [...this.#series.values()];
    const requests = all.flatMap(({ labels, codes }) =>
      [...codes].map(([code, value]): MetricSample => ({ labels: [...labels, String(code)], value })),
    );
    return [
      {
        name: "apiserver_request_total",
        help: "Requests that have ended, by subject and status code; code 0: the client left before there was one.",
        type: "counter",
        labelNames: [...REQUEST_LABELS, "code"],
        samples: requests,
      },
      {
        name: "apiserver_request_duration_seconds",
        help: "Request duration; for watches, their lifetime.",
        type: "histogram",
        labelNames: REQUEST_LABELS,
        bounds: SECONDS,
        samples: all.map((series) => series.seconds),
      },
      {
        name: "apiserver_response_sizes",
        help: "Response size in bytes, where it is known before the response is written.",
        type: "histogram",
        labelNames: REQUEST_LABELS,
        bounds: BYTES,
        samples: all.map((series) => series.bytes),
      },
      ...this.#underWay(),
      ...this.#lists.families(),
      {
        name: "authentication_attempts",
        help: "Authentication attempts by result; error: an authenticator failed.",
        type: "counter",
        labelNames: ["result"],
        samples: this.#authentication.samples(["success", "failure", "error"]),
      },
      {
        name: "apiserver_authorization_attempts_total",
        help: "Authorization decisions by result of the last rule.",
        type: "counter",
        labelNames: ["result"],
        samples: this.#authorization.samples(["allowed", "denied", "error"]),
      },
    ];
  }

  #seriesOf(labels: RequestLabels): Series {
    const key = labels.join(" ");
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= MOST && labels !== REST) return this.#seriesOf(REST);
    const series = {
      labels,
      codes: new Map(),
      seconds: new Buckets(labels, SECONDS),
      bytes: new Buckets(labels, BYTES),
    };
    this.#series.set(key, series);
    return series;
  }

  #countVerdicts(
    { user, authenticatorFailed, unauthenticated, decision, failed }: ObservedRequest,
    code: number,
  ): void {
    if (user !== undefined) this.#authentication.add("success");
    else if (code === 401 || unauthenticated !== undefined)
      this.#authentication.add(authenticatorFailed ? "error" : "failure");
    if (decision !== undefined) this.#authorization.add(decision.allowed === true ? "allowed" : "denied");
    else if (user !== undefined && failed) this.#authorization.add("error");
  }

  /** Requests that have begun and not ended, counted on a scrape. */
  #underWay(): MetricFamily[] {
    const long = new Map<string, { readonly labels: RequestLabels; value: number }>();
    for (const request of this.#long) {
      const labels = this.#seriesLabels(request);
      const sample = long.get(labels.join(" ")) ?? { labels, value: 0 };
      sample.value += 1;
      long.set(labels.join(" "), sample);
    }
    return [
      {
        name: "apiserver_current_inflight_requests",
        help: "Requests under way that are not long-running.",
        type: "gauge",
        labelNames: ["request_kind"],
        samples: Object.entries(this.#open).map(([kind, value]) => ({ labels: [kind], value })),
      },
      {
        name: "apiserver_longrunning_requests",
        help: "Watches, upgrades and other long-running requests whose response has begun.",
        type: "gauge",
        labelNames: REQUEST_LABELS,
        samples: [...long.values()],
      },
    ];
  }

  #seriesLabels(request: ObservedRequest): RequestLabels {
    const labels = labelsOf(request);
    return this.#series.has(labels.join(" ")) || this.#series.size < MOST ? labels : REST;
  }
}

function kindOf({ method }: ObservedRequest): "readOnly" | "mutating" {
  return method === "GET" || method === "HEAD" || method === "OPTIONS" ? "readOnly" : "mutating";
}
