// What is measured: a view that forwards the ticks of `fanout.ts`, which asks there as itself, whoever asks here.

import { forward } from "@virtual-workspaces/forwarding";
import {
  authenticated,
  createServer,
  defineVirtualWorkspace,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import { serveCommands } from "../_harness/commands.ts";
import { Tick } from "./tick-source.ts";

let server: Server;

const commands = {
  /** @param upstream the port of `fanout.ts` */
  forward: async (upstream: number): Promise<number> => {
    const source = forward({
      resource: Tick,
      upstream: {
        url: `http://127.0.0.1:${upstream}/services/bench`,
        credentials: { get: () => ({ headers: ["Authorization", "Bearer token-a"] }) },
      },
      cluster: () => "",
      identity: "none",
    });
    server = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "bench",
          path: "/",
          authorize: authenticated(),
          resources: [Tick.serve(source, { verbs: ["get", "list", "watch"] })],
        }),
      ],
      authentication: [staticTokens({ "token-a": { name: "alice" }, "token-b": { name: "bob" } })],
      minWatchTimeout: 600_000,
    });
    return (await server.listen({ port: 0 })).port;
  },
  stats: () => server.stats,
};

export type ForwardedTicks = typeof commands;

serveCommands(commands);
