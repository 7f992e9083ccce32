import { createRequire } from "node:module";
import type * as PromClient from "prom-client";
import type { MetricFamily, VirtualWorkspace } from "../../virtual-workspace.ts";
import type { WatchHub } from "../../watch/hub.ts";
import type { Auditor } from "../audit/auditor.ts";
import type { Log } from "../log/log.ts";
import type { Meters } from "./family.ts";

/** Parts of a server that have metrics. */
export interface MeteredServer {
  readonly auditor: Pick<Auditor, "stats"> | undefined;
  readonly hub: WatchHub;
  readonly meters: Meters;
  /** Servers within this one. */
  readonly parts: readonly { readonly core: MeteredServer }[];
  readonly matcher: { readonly views: readonly { readonly workspace: VirtualWorkspace }[] };
  readonly log: Log;
}

type Read = (core: MeteredServer) => number;

interface Single {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly read: Read;
}

const PREFIX = "virtual_workspaces";

const AUDIT: readonly Single[] = [
  {
    name: "apiserver_audit_event_total",
    type: "counter",
    help: "Audit events generated.",
    read: ({ auditor }) => auditor?.stats.events ?? 0,
  },
  {
    name: "apiserver_audit_requests_rejected_total",
    type: "counter",
    help: "Requests rejected because their audit events could not be written.",
    read: ({ auditor }) => auditor?.stats.rejected ?? 0,
  },
];

const WATCHES: readonly Single[] = [
  {
    name: `${PREFIX}_watch_sources`,
    type: "gauge",
    help: "Source watches that the hub keeps.",
    read: ({ hub }) => hub.stats.sources,
  },
  {
    name: `${PREFIX}_watch_subscribers`,
    type: "gauge",
    help: "Open watches.",
    read: ({ hub }) => hub.counts().subscribers,
  },
  {
    name: `${PREFIX}_watch_cached_objects`,
    type: "gauge",
    help: "Objects in the caches that open watches read.",
    read: ({ hub }) => hub.counts().objects,
  },
  {
    name: `${PREFIX}_watch_history_events`,
    type: "gauge",
    help: "Events in the histories that open watches resume from.",
    read: ({ hub }) => hub.counts().events,
  },
  {
    name: `${PREFIX}_watch_rendered_events_total`,
    type: "counter",
    help: "Events rendered, once for each representation.",
    read: ({ hub }) => hub.stats.rendered,
  },
  {
    name: `${PREFIX}_watch_writes_total`,
    type: "counter",
    help: "Batches of events written to watches.",
    read: ({ hub }) => hub.stats.delivered,
  },
];

/** Returns the metrics of a server's parts, and of the servers within it. */
export function serverFamilies(core: MeteredServer): MetricFamily[] {
  const all = [core, ...core.parts.map((part) => part.core)];
  const single = ({ read, ...family }: Single, cores: readonly MeteredServer[]): MetricFamily => ({
    ...family,
    labelNames: [],
    samples: [{ labels: [], value: cores.reduce((sum, each) => sum + read(each), 0) }],
  });
  return [
    ...AUDIT.map((family) => single(family, [core])),
    ...WATCHES.map((family) => single(family, all)),
    {
      name: "apiserver_audit_error_total",
      help: "Audit events lost: not written, or dropped because too many were pending.",
      type: "counter",
      labelNames: ["plugin"],
      samples: [{ labels: ["log"], value: core.auditor?.stats.lost ?? 0 }],
    },
    {
      name: "apiserver_watch_events_total",
      help: "Events sent to watches.",
      type: "counter",
      labelNames: ["group", "version", "resource"],
      samples: all.flatMap(({ hub }) => hub.sent()),
    },
    ...core.meters.families(),
  ];
}

/** Returns the views' own metrics, also of servers within this one. */
export function viewFamilies(core: MeteredServer): readonly MetricFamily[] {
  const own = core.matcher.views.flatMap(({ workspace }) => {
    try {
      return workspace.metrics?.() ?? [];
    } catch (error) {
      const about = { virtualWorkspace: workspace.name, error: String(error) };
      core.log({ level: "error", message: "metrics of a virtual workspace failed", ...about });
      return [];
    }
  });
  return [...own, ...core.parts.flatMap((part) => viewFamilies(part.core))];
}

/** prom-client's observers of the collector and the event loop cannot be stopped: there is one set per process. */
let registry: PromClient.Registry | undefined;

/** Returns `process_*` and `nodejs_*`: CPU, memory, handles, delay of the event loop, collections. */
export async function processFamilies(): Promise<MetricFamily[]> {
  registry ??= load();
  return (await registry.getMetricsAsJSON()).map(familyOf);
}

/** Starts process metrics, with the delay of the event loop. Loaded only where metrics are served. */
export function watchProcess(): void {
  registry ??= load();
}

function load(): PromClient.Registry {
  const { Registry, collectDefaultMetrics } = createRequire(import.meta.url)("prom-client") as typeof PromClient;
  const loaded = new Registry();
  collectDefaultMetrics({ register: loaded });
  return loaded;
}

/** Converts a metric of prom-client. Its own writer cannot be used: after one OpenMetrics scrape it keeps other names. */
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

/** Buckets of prom-client are cumulative, and precede the sum and the count of their labels. */
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
