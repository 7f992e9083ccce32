// A hub of remote clusters beside a shard, over TLS.
import { clusterProxy } from "@virtual-workspaces/cluster-proxy";
import { createServer, staticTokens } from "@virtual-workspaces/framework";
import type { KeyPair } from "@virtual-workspaces/framework/tls";
import { Upstream } from "@virtual-workspaces/transport";
import { serveCommands } from "../_harness/commands.ts";

const commands = {
  /** @param port 0 for any free one @returns which it is */
  listen: async ({ shard, port, tls }: { readonly shard: number; readonly port: number; readonly tls: KeyPair }) => {
    const upstream = new Upstream({ url: `http://127.0.0.1:${shard}` });
    const address = { url: `https://127.0.0.1:${port}` };
    const server = createServer({
      virtualWorkspaces: clusterProxy({ upstream, ...(port !== 0 && { address }) }),
      authentication: [staticTokens({ admin: { name: "admin", groups: ["system:masters"] } })],
      tls,
      log: ({ level, message, ...rest }) => {
        if (level === "error") throw new Error(`${message}: ${JSON.stringify(rest)}`);
      },
    });
    const listening = await server.listen({ port });
    return listening.port;
  },
};

export type AgentsHub = typeof commands;

serveCommands(commands);
