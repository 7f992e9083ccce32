// What is measured: a view that forwards a kind unchanged, with token authentication.

import { forward } from "@virtual-workspaces/forwarding";
import {
  authenticated,
  createServer,
  defineVirtualWorkspace,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import { serveCommands } from "../_harness/commands.ts";
import { peakMemory } from "../_harness/peak-memory.ts";
import { Widget } from "./widget-view.ts";

let server: Server;

const commands = {
  ...peakMemory,
  /** @param upstream the port, and the path behind which the kind is served there */
  listen: async ({ port, path = "" }: { readonly port: number; readonly path?: string }): Promise<number> => {
    const upstream = { url: `http://127.0.0.1:${port}${path}` };
    const source = forward({ resource: Widget, upstream, cluster: () => "" });
    server = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "bench",
          path: "/",
          authorize: authenticated(),
          resources: [Widget.serve(source, { verbs: ["get", "list", "watch"] })],
        }),
      ],
      authentication: [staticTokens({ "bench-token": { name: "alice", groups: ["team"] } })],
      minWatchTimeout: 600_000,
    });
    return (await server.listen({ port: 0 })).port;
  },
  stats: () => server.stats,
};

export type Forwarded = typeof commands;

serveCommands(commands);
