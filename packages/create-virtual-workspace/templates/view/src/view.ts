// A read-only view: what kubectl lists and watches is computed here.
import { availableParallelism, freemem, loadavg, totalmem } from "node:os";
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";

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

/** Objects in memory, by logical cluster. A changed object is an event in every open watch. */
export const gauges = Gauge.collection();

/** Reads the values again: replace this with what your view shows. */
export function measure(): void {
  const here = gauges.in("root");
  here.set("load", { value: loadavg()[0] ?? 0, unit: "processes" });
  here.set("memory", { value: Math.round((totalmem() - freemem()) / 2 ** 20), unit: "MiB" });
  here.set("processors", { value: availableParallelism(), unit: "processors" });
}

export default defineVirtualWorkspace({
  name: "my-view", // served below /services/my-view/clusters/<logical cluster>/apis/my-view.example.dev/v1/gauges
  path: "/clusters/:cluster",
  // Without this hook the file does not compile: decide who may read what.
  authorize: authenticated(),
  resources: [Gauge.serve(gauges, { verbs: ["get", "list", "watch"] })],
  // Called when the server starts. The server stops the timer when it closes.
  setup: () => {
    measure();
    return setInterval(measure, 2000);
  },
});
