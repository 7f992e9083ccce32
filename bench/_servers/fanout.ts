// What is measured: a view whose storage lists and tells changes, so that the hub keeps one source for all watchers.
import {
  authenticated,
  createServer,
  defineVirtualWorkspace,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { TlsOptions } from "@virtual-workspaces/framework/tls";
import { serveCommands } from "../_harness/commands.ts";
import { publisher } from "./publisher.ts";
import { Tick, TickSource } from "./tick-source.ts";

const ticks = new TickSource();
let server: Server;

const commands = {
  ...publisher(ticks.publish),
  listen: async (tls: TlsOptions | undefined): Promise<number> => {
    server = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "bench",
          path: "/",
          authorize: authenticated(),
          resources: [Tick.serve(ticks.storage as never)],
        }),
      ],
      authentication: [staticTokens({ "token-a": { name: "alice" }, "token-b": { name: "bob" } })],
      minWatchTimeout: 600_000,
      ...(tls === undefined ? {} : { tls }),
    });
    return (await server.listen({ port: 0 })).port;
  },
  /** Counted by the server, and by the source itself. */
  stats: () => ({ ...server.stats, opened: ticks.opened }),
};

export type Fanout = typeof commands;

serveCommands(commands);
