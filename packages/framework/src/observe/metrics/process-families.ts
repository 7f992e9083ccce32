import { createRequire } from "node:module";
import type * as PromClient from "prom-client";
import type { MetricFamily } from "./family.ts";

/** prom-client's observers of the collector and the event loop cannot be ended: there is one set of them for a process. */
let registry: PromClient.Registry | undefined;

/** `process_*` and `nodejs_*`: CPU, memory, handles, delay of the event loop, collections. */
export async function processFamilies(): Promise<MetricFamily[]> {
  registry ??= load();
  return (await registry.getMetricsAsJSON()).map(familyOf);
}

/** Loaded where metrics are served, and nowhere else. The delay of the event loop is measured from now on. */
export function watchProcess(): void {
  registry ??= load();
}

function load(): PromClient.Registry {
  const { Registry, collectDefaultMetrics } = createRequire(import.meta.url)("prom-client") as typeof PromClient;
  const loaded = new Registry();
  collectDefaultMetrics({ register: loaded });
  return loaded;
}

/** A metric of prom-client's. Its own writer cannot be used: once asked for OpenMetrics it has other names for ever. */
function familyOf(metric: PromClient.MetricObjectWithValues<PromClient.MetricValue<string>>): MetricFamily {
  const { name, help } = metric;
  const samples = metric.values;
  // As in their JSON, where types are words.
  const type = String(metric.type);
  const labelNames = [...new Set(samples.flatMap(({ labels }) => Object.keys(labels)))].filter((one) => one !== "le");
  const valuesOf = (labels: object): string[] =>
    labelNames.map((one) => String((labels as Record<string, unknown>)[one] ?? ""));
  if (type !== "histogram") {
    const plain = samples.map(({ labels, value }) => ({ labels: valuesOf(labels), value }));
    return { name, help, type: type === "counter" ? "counter" : "gauge", labelNames, samples: plain };
  }
  return { name, help, type, labelNames, ...distributionsOf(samples as readonly HistogramValue[], valuesOf) };
}

interface HistogramValue {
  readonly metricName?: string;
  readonly labels: { readonly le?: number | string };
  readonly value: number;
}

/** Buckets of prom-client are cumulated, and come before the sum and the count of their labels. */
function distributionsOf(
  values: readonly HistogramValue[],
  valuesOf: (labels: object) => string[],
): Pick<MetricFamily & { readonly type: "histogram" }, "bounds" | "samples"> {
  const isBound = ({ labels }: HistogramValue): boolean => labels.le !== undefined && labels.le !== "+Inf";
  const bounds = [...new Set(values.filter(isBound).map(({ labels }) => Number(labels.le)))];
  const groups = Map.groupBy(values, ({ labels }) => JSON.stringify(valuesOf(labels)));
  const samples = [...groups.values()].map((group) => {
    const ending = (suffix: string): number => group.find(({ metricName }) => metricName?.endsWith(suffix))?.value ?? 0;
    const below = bounds.map((bound) => group.find(({ labels }) => Number(labels.le) === bound)?.value ?? 0);
    return {
      labels: valuesOf(group[0]?.labels ?? {}),
      counts: below.map((count, at) => count - (below[at - 1] ?? 0)),
      count: ending("_count"),
      sum: ending("_sum"),
    };
  });
  return { bounds, samples };
}
