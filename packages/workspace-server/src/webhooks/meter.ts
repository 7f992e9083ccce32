import type { MetricFamily } from "@virtual-workspaces/framework/server";
import { LabelledDurations } from "./durations.ts";
import type { WebhookPhase } from "./webhook.ts";

/** Result of a call: an answer that allows or rejects, or a failed call that is ignored or rejects. */
export type WebhookOutcome = "allowed" | "rejected" | "ignored" | "failed";

/** Kubernetes' own bounds, in seconds. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];

/** Type in labels, as in Kubernetes. */
const TYPES: Readonly<Record<WebhookPhase, string>> = { mutating: "admit", validating: "validating" };

/** Metrics of calls. Labels do not name webhooks, since users choose the names. */
export class WebhookMeter {
  readonly #durations = new LabelledDurations(BOUNDS);
  readonly #rejections = new Map<string, number>();
  readonly #ignored = new Map<string, number>();

  /** Counts a call. @param seconds its duration */
  observe(phase: WebhookPhase, operation: string, result: { outcome: WebhookOutcome; seconds: number }): void {
    const { outcome, seconds } = result;
    const type = TYPES[phase];
    const isRejected = outcome === "rejected" || outcome === "failed";
    this.#durations.observe([operation, String(isRejected), type], seconds);
    const cause = outcome === "failed" ? "calling_webhook_error" : "no_error";
    if (isRejected) add(this.#rejections, [cause, operation, type].join());
    if (outcome === "ignored") add(this.#ignored, type);
  }

  families(): readonly MetricFamily[] {
    return [
      {
        name: "apiserver_admission_webhook_admission_duration_seconds",
        help: "Duration of calls of admission webhooks.",
        type: "histogram",
        labelNames: ["operation", "rejected", "type"],
        bounds: BOUNDS,
        samples: this.#durations.samples,
      },
      {
        name: "apiserver_admission_webhook_rejection_count",
        help: "Requests that admission webhooks, or failed calls of them, have rejected.",
        type: "counter",
        labelNames: ["error_type", "operation", "type"],
        samples: samplesOf(this.#rejections),
      },
      {
        name: "apiserver_admission_webhook_fail_open_count",
        help: "Failed calls of admission webhooks that were ignored.",
        type: "counter",
        labelNames: ["type"],
        samples: samplesOf(this.#ignored),
      },
    ];
  }
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function samplesOf(counts: ReadonlyMap<string, number>) {
  return [...counts].map(([key, value]) => ({ labels: key.split(","), value }));
}
