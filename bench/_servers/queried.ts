// What is measured: a query view over a collection.
import {
  authenticated,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";
import { queryView } from "@virtual-workspaces/query";
import { serveCommands } from "../_harness/commands.ts";
import { sharedNow } from "./tick.ts";

const Item = defineResource({
  group: "bench.example",
  version: "v1",
  kind: "Item",
  scope: "Namespaced",
  spec: {
    type: "object",
    properties: {
      rank: { type: "integer" },
      team: { type: "string" },
      at: { type: "number" },
      text: { type: "string" },
    },
  },
  columns: [
    { name: "Rank", type: "integer", jsonPath: ".spec.rank" },
    { name: "Team", type: "string", jsonPath: ".spec.team" },
  ],
});

const items = Item.collection();
const over = defineVirtualWorkspace({
  name: "items",
  path: "/clusters/:cluster",
  authorize: authenticated(),
  resources: [Item.serve(items)],
});
const server = createServer({
  virtualWorkspaces: [over, queryView({ over, linger: 600_000 })],
  authentication: [staticTokens({ "bench-token": { name: "bench" } })],
});
const part = items.in("root", "default");
const text = "x".repeat(700);
/** A permutation of the numbers below a prime, so that the order by rank is not that of names. */
const rankOf = (n: number): number => (n * 7_919) % 1_000_003;
const item = (n: number): { rank: number; team: string; at: number; text: string } => ({
  ...{ rank: rankOf(n), team: `team-${n % 97}`, at: 0, text },
});

const commands = {
  listen: async (): Promise<number> => (await server.listen({ port: 0 })).port,
  fill: (count: number): void => {
    for (let n = 0; n < count; n++) part.set(`i${String(n).padStart(6, "0")}`, item(n));
  },
  /** Changes objects `times` times, `period` ms apart: each is then the first by rank, in turn with another. */
  change: async ({ times, period }: { readonly times: number; readonly period: number }): Promise<void> => {
    for (let n = 0; n < times; n++) {
      part.set(`i${String(n % 50).padStart(6, "0")}`, { ...item(n), rank: -1 - n, at: sharedNow() });
      await new Promise((resolve) => setTimeout(resolve, period));
    }
  },
};

export type Queried = typeof commands;

serveCommands(commands);
