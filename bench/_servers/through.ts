// What is measured: views over another server, with token authentication.
import { createServer, staticTokens, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { Upstream } from "@virtual-workspaces/transport";
import { anonymousMemory } from "../_harness/anonymous-memory.ts";
import { peakMemory } from "../_harness/peak-memory.ts";

const TOKENS = ["bench-token", "token-a", "token-b"];

/** Commands of a server of a view over the server of the bench whose port it is told. */
export function through(viewOver: (upstream: Upstream) => VirtualWorkspace) {
  return {
    ...peakMemory,
    ...anonymousMemory,
    /** Serves it once it has read everything. @param port that of `export-upstream.ts` */
    listen: async (port: number): Promise<number> => {
      const credentials = { get: () => ({ headers: ["Authorization", "Bearer view-token"] }) };
      const upstream = new Upstream({ url: `http://127.0.0.1:${port}`, credentials });
      const server = createServer({
        virtualWorkspaces: [viewOver(upstream)],
        authentication: [
          staticTokens(Object.fromEntries(TOKENS.map((token) => [token, { name: token, groups: ["team"] }]))),
        ],
        minWatchTimeout: 600_000,
      });
      const listening = await server.listen({ port: 0 });
      while ((await fetch(`${listening.url}/readyz`)).status !== 200);
      return listening.port;
    },
  };
}
