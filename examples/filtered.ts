// A view that objects enter and leave: a train is on the board while it is boarding. An open watch sees each come
// (ADDED) and go (DELETED), although the train itself is only ever changed.
import { authenticated, defineResource, defineVirtualWorkspace, view } from "@virtual-workspaces/framework";

const PHASES = ["Approaching", "Boarding", "Departed"] as const;

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
    properties: { phase: { type: "string", enum: PHASES, description: "Where it is in its day." } },
  },
  columns: { Destination: ".spec.destination", Phase: ".status.phase" },
});

/** All trains of the day, wherever they are. */
export const trains = Train.collection();

const DESTINATIONS = ["Aarhus", "Basel", "Calais", "Dresden", "Evora", "Fano"];

/** One step of time: every train is a phase ahead of the one before it. */
export function advance(step: number): void {
  for (const [at, destination] of DESTINATIONS.entries()) {
    const name = destination.toLowerCase();
    trains.in("root").set(name, { destination });
    trains.in("root").setStatus(name, { phase: PHASES[(step + at) % PHASES.length] ?? "Approaching" });
  }
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
    advance(step);
    return setInterval(() => advance(++step), 3000);
  },
});
