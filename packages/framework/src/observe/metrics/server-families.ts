import type { ServerCore } from "../../core.ts";
import type { MetricFamily, MetricSample } from "./family.ts";

type Read = (core: ServerCore) => number;

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
    help: "Requests refused because their audit events could not be written.",
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
    help: "Events rendered: once for each representation, however many watch.",
    read: ({ hub }) => hub.stats.rendered,
  },
  {
    name: `${PREFIX}_watch_writes_total`,
    type: "counter",
    help: "Batches of events written to watches.",
    read: ({ hub }) => hub.stats.delivered,
  },
];

/** What the parts of a server know of themselves, those within it too. */
export function serverFamilies(core: ServerCore): MetricFamily[] {
  const all = [core, ...core.parts.map((part) => part.core)];
  const single = ({ read, ...family }: Single, cores: readonly ServerCore[]): MetricFamily => ({
    ...family,
    labelNames: [],
    samples: [{ labels: [], value: cores.reduce((sum, each) => sum + read(each), 0) }],
  });
  return [
    ...AUDIT.map((family) => single(family, [core])),
    ...WATCHES.map((family) => single(family, all)),
    {
      name: "apiserver_audit_error_total",
      help: "Audit events lost: not written, or dropped because too many waited.",
      type: "counter",
      labelNames: ["plugin"],
      samples: [{ labels: ["log"], value: core.auditor?.stats.lost ?? 0 }],
    },
    {
      name: "apiserver_watch_events_total",
      help: "Events sent to watches.",
      type: "counter",
      labelNames: ["group", "version", "resource"],
      samples: summed(all.flatMap(({ hub }) => hub.sent())),
    },
    ...core.meters.families(),
  ];
}

/** One sample for each set of labels. */
function summed(samples: readonly MetricSample[]): MetricSample[] {
  const sums = new Map<string, MetricSample>();
  for (const { labels, value } of samples) {
    const key = labels.join(" ");
    sums.set(key, { labels, value: value + (sums.get(key)?.value ?? 0) });
  }
  return [...sums.values()];
}
