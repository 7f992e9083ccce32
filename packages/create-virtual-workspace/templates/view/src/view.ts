// A read-only view: kubectl lists and watches what is computed here.
import { availableParallelism, freemem, loadavg, totalmem } from "node:os";
import {
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  polled,
  type SourceObject,
  type SpecOf,
} from "@virtual-workspaces/framework";

// The schema is the type: { value: number; unit: string }
export const Gauge = defineResource({
  group: "my-view.example.dev",
  version: "v1",
  kind: "Gauge",
  scope: "Cluster",
  description: "A measured value of this machine.",
  spec: {
    type: "object",
    required: ["value", "unit"],
    properties: { value: { type: "number" }, unit: { type: "string" } },
  },
  columns: { Value: ".spec.value", Unit: ".spec.unit" },
});

/**
 * Returns the current objects: replace this with what your view shows, such as files, or answers of another service. It may be
 * async, and may throw: the last objects stay, and clients get a warning. A name has lower-case letters, digits, "-" and ".";
 * `objectName(key)` of the framework makes one from any other key.
 */
function read(): SourceObject<{ spec: SpecOf<typeof Gauge> }>[] {
  return [
    { metadata: { name: "load" }, spec: { value: loadavg()[0] ?? 0, unit: "processes" } },
    { metadata: { name: "memory" }, spec: { value: Math.round((totalmem() - freemem()) / 2 ** 20), unit: "MiB" } },
    { metadata: { name: "processors" }, spec: { value: availableParallelism(), unit: "processors" } },
  ];
}

/** Reads every two seconds. What appears, changes or disappears is an event in every open watch. */
export const gauges = polled({ collection: Gauge.collection(), cluster: "root", every: 2000, read });

export default defineVirtualWorkspace({
  name: "my-view", // served below /services/my-view/clusters/<logical cluster>/apis/my-view.example.dev/v1/gauges
  path: "/clusters/:cluster",
  // Required: without it the file does not compile, and the view does not start. Decide who may read what.
  authorize: authenticated(),
  resources: [Gauge.serve(gauges, { verbs: ["get", "list", "watch"] })],
  ready: gauges.ready,
  setup: (context) => gauges.start(context),
});
