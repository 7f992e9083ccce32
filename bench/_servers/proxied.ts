// What is measured: a view that passes everything on to another server, as the caller, with token authentication.
import {
  authenticated,
  createServer,
  defineVirtualWorkspace,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import { proxy } from "@virtual-workspaces/framework/proxy";
import { Upstream } from "@virtual-workspaces/transport";
import { serveCommands } from "../_harness/commands.ts";
import { peakMemory } from "../_harness/peak-memory.ts";

let server: Server;
let upstream: Upstream;

const commands = {
  ...peakMemory,
  /** @param port that of the other server */
  listen: async (port: number): Promise<number> => {
    upstream = new Upstream({ url: `http://127.0.0.1:${port}` });
    const { handle, upgrade } = proxy({
      upstream,
      path: ({ tail }) => tail,
      headers: ({ user }) => ["X-Remote-User", user.name, ...user.groups.flatMap((group) => ["X-Remote-Group", group])],
    });
    const view = { name: "mount", path: "/", authorize: authenticated(), handle, upgrade };
    server = createServer({
      virtualWorkspaces: [defineVirtualWorkspace(view)],
      authentication: [staticTokens({ "bench-token": { name: "alice", groups: ["team"] } })],
      limits: { longRunning: 20_000 },
    });
    return (await server.listen({ port: 0 })).port;
  },
  /** What is open: requests of clients, requests to the other server, and connections there. */
  open: (): { readonly longRunning: number; readonly active: number; readonly connections: number } => {
    const { active, connections } = upstream.stats;
    return { longRunning: server.stats.longRunning, active, connections };
  },
};

export type Proxied = typeof commands;

serveCommands(commands);
