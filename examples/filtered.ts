// A view that objects enter and leave: a train is on the board while it is boarding. An open watch sees each come
// (ADDED) and go (DELETED), although the trains themselves are only ever changed.
import { authenticated, defineResource, defineVirtualWorkspace, view } from "@virtual-workspaces/framework";

const Train = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Train",
  scope: "Cluster",
  description: "A train that is boarding.",
  spec: {
    type: "object",
    required: ["destination"],
    properties: { destination: { type: "string", description: "Where it goes." } },
  },
  status: {
    type: "object",
    required: ["phase"],
    properties: { phase: { type: "string", enum: ["Approaching", "Boarding", "Departed"] } },
  },
  columns: { Destination: ".spec.destination", Phase: ".status.phase" },
});

/** All trains of the day, wherever they are. */
const trains = Train.collection();
const today = trains.in("root");
const DESTINATIONS = ["Aarhus", "Basel", "Calais", "Dresden", "Evora", "Fano"];
for (const destination of DESTINATIONS) today.set(destination.toLowerCase(), { destination });
today.setStatus("aarhus", { phase: "Boarding" });

/** Whoever is boarding leaves, and the next train comes. */
export function advance(step: number): void {
  const nameOf = (at: number): string => String(DESTINATIONS[at % DESTINATIONS.length]).toLowerCase();
  today.setStatus(nameOf(step), { phase: "Departed" });
  today.setStatus(nameOf(step + 1), { phase: "Boarding" });
}

/** Membership depends on nothing but the object, so that list and watch always agree. */
const board = view({ from: trains, select: ({ status }) => status?.phase === "Boarding" });

export default defineVirtualWorkspace({
  name: "filtered",
  path: "/clusters/:cluster",
  authorize: authenticated(),
  resources: [Train.serve(board)],
  setup: () => {
    let step = 0;
    return setInterval(() => advance(step++), 2000);
  },
});
