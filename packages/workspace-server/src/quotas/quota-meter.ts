import type { WorkQueueMetrics } from "@virtual-workspaces/client/queue";
import type { MetricFamily } from "@virtual-workspaces/framework/server";
import { LabelledDurations } from "../webhooks/durations.ts";

/** Kubernetes' own bounds of admission plugins, in seconds. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
/** Name of the admission plugin in Kubernetes. */
const PLUGIN = "ResourceQuota";
/** Name of the controller's queue in Kubernetes. */
const QUEUE = "resourcequota_primary";

type Queue = () => WorkQueueMetrics;

/** Metrics of quotas in all shards of a process. */
export class QuotaMeter {
  readonly #admissions = new LabelledDurations(BOUNDS);
  readonly #queues = new Set<Queue>();

  /** Counts a create that quotas limit. @param seconds time until the decision */
  observe({ isRejected, seconds }: { readonly isRejected: boolean; readonly seconds: number }): void {
    this.#admissions.observe([PLUGIN, "CREATE", String(isRejected), "validate"], seconds);
  }

  /** Adds the queue of a controller, until disposed. */
  add(queue: Queue): Disposable {
    this.#queues.add(queue);
    return { [Symbol.dispose]: () => void this.#queues.delete(queue) };
  }

  families(): readonly MetricFamily[] {
    const all = [...this.#queues].map((queue) => queue());
    return [
      {
        name: "apiserver_admission_controller_admission_duration_seconds",
        help: "Duration of the decisions of quotas about creates.",
        type: "histogram",
        labelNames: ["name", "operation", "rejected", "type"],
        bounds: BOUNDS,
        samples: this.#admissions.samples,
      },
      gauge("depth", "Keys that wait for a worker.", total(all, "depth")),
      counter("adds_total", "Keys that were queued.", total(all, "adds")),
      counter("retries_total", "Keys that were queued again after a failure.", total(all, "retries")),
      gauge("unfinished_work_seconds", "Time that workers have held their keys.", total(all, "unfinished")),
      durations(
        "queue_duration_seconds",
        "Time that keys waited for a worker.",
        all.map(({ waited }) => waited),
      ),
      durations(
        "work_duration_seconds",
        "Time that workers held keys.",
        all.map(({ worked }) => worked),
      ),
    ];
  }
}

function total(all: readonly WorkQueueMetrics[], field: "depth" | "adds" | "retries" | "unfinished"): number {
  return all.reduce((sum, metrics) => sum + metrics[field], 0);
}

const LABELS = { labelNames: ["name"] } as const;

function gauge(name: string, help: string, value: number): MetricFamily {
  return { ...LABELS, name: `workqueue_${name}`, help, type: "gauge", samples: [{ labels: [QUEUE], value }] };
}

function counter(name: string, help: string, value: number): MetricFamily {
  return { ...LABELS, name: `workqueue_${name}`, help, type: "counter", samples: [{ labels: [QUEUE], value }] };
}

function durations(name: string, help: string, all: readonly WorkQueueMetrics["waited"][]): MetricFamily {
  const bounds = (all[0]?.buckets ?? []).map(({ le }) => le);
  const below = bounds.map((_, at) => all.reduce((sum, { buckets }) => sum + (buckets[at]?.count ?? 0), 0));
  const sample = {
    labels: [QUEUE],
    counts: below.map((count, at) => count - (below[at - 1] ?? 0)),
    count: all.reduce((sum, { count }) => sum + count, 0),
    sum: all.reduce((sum, one) => sum + one.sum, 0),
  };
  return { ...LABELS, name: `workqueue_${name}`, help, type: "histogram", bounds, samples: [sample] };
}
