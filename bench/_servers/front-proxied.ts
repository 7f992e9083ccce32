// What is measured: a front proxy before one shard, with token authentication.
import { staticTokens } from "@virtual-workspaces/framework";
import { createFrontProxy } from "@virtual-workspaces/front-proxy";
import { Upstream } from "@virtual-workspaces/transport";
import { serveCommands } from "../_harness/commands.ts";
import { peakMemory } from "../_harness/peak-memory.ts";

const commands = {
  ...peakMemory,
  /** @param shard its port @returns the proxy's */
  listen: async (shard: number): Promise<number> => {
    const root = new Upstream({ url: `http://127.0.0.1:${shard}` });
    const proxy = createFrontProxy({
      mapping: [{ path: "/clusters/", backends: [] }],
      authentication: [staticTokens({ "bench-token": { name: "alice", groups: ["system:kcp:admin"] } })],
      shards: { root, read: {} },
      log: ({ level, message, ...rest }) => {
        if (level === "error") throw new Error(`${message}: ${JSON.stringify(rest)}`);
      },
    });
    const { port } = await proxy.listen({ port: 0 });
    await proxy.started;
    return port;
  },
};

export type FrontProxied = typeof commands;

serveCommands(commands);
