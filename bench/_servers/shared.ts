// What two users share: lists that cost the server's own time, and a storage that takes so many requests at a time.
import {
  authenticated,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { serveCommands } from "../_harness/commands.ts";
import { SLOW } from "../_harness/slow.ts";

const define = (kind: string) =>
  defineResource({
    group: "bench.example",
    version: "v1",
    kind,
    scope: "Cluster",
    spec: { type: "object", properties: { text: { type: "string" } } },
  });
const Widget = define("Widget");
const Remote = define("Remote");
const widgets = Widget.collection();

/** Slots of a pool, first come, first served: what a database driver does. */
let free: number = SLOW.slots;
const waiting: (() => void)[] = [];

async function takeSlot(): Promise<void> {
  if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  else free -= 1;
}

function giveSlot(): void {
  const next = waiting.shift();
  if (next === undefined) free += 1;
  else next();
}

const remote: Storage = {
  get: async (_scope, { name }) => {
    await takeSlot();
    try {
      await new Promise((resolve) => setTimeout(resolve, SLOW.takes));
      return { apiVersion: "bench.example/v1", kind: "Remote", metadata: { name }, spec: {} };
    } finally {
      giveSlot();
    }
  },
};

/** As if there were no such stage. */
const UNBOUNDED = {
  inFlight: Number.POSITIVE_INFINITY,
  mutating: Number.POSITIVE_INFINITY,
  turn: Number.POSITIVE_INFINITY,
} as const;

const commands = {
  listen: async ({ fair }: { readonly fair: boolean }): Promise<number> => {
    const part = widgets.in("");
    for (let n = 0; n < 5000; n++)
      part.set(`w${String(n).padStart(5, "0")}`, { text: "x" }, { labels: { n: String(n) } });
    const server = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "bench",
          path: "/",
          authorize: authenticated(),
          resources: [Widget.serve(widgets), Remote.serve(remote as Storage<never>)],
        }),
      ],
      authentication: [staticTokens({ greedy: { name: "greedy" }, modest: { name: "modest" } })],
      limits: fair ? { inFlight: SLOW.slots } : UNBOUNDED,
    });
    return (await server.listen({ port: 0 })).port;
  },
};

export type Shared = typeof commands;

serveCommands(commands);
