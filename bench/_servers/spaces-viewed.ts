// What is measured: the view of Spaces, over many bare servers.
import { Client } from "@virtual-workspaces/client";
import { createServer, staticTokens } from "@virtual-workspaces/framework";
import { followSpaces, spacesView } from "@virtual-workspaces/spaces";
import { serveCommands } from "../_harness/commands.ts";
import { peakMemory } from "../_harness/peak-memory.ts";

interface Target {
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
}

const onError = ({ error }: { readonly error: unknown }): never => {
  throw error;
};

const commands = {
  ...peakMemory,
  /** @returns the port */
  listen: async ({ port: behind, tls: { cert, key, ca } }: Target): Promise<number> => {
    const credential = { headers: ["Authorization", "Bearer bench"] };
    const upstream = { url: `https://127.0.0.1:${behind}/management`, tls: { ca } };
    const client = new Client({ upstream: { ...upstream, credentials: { get: () => credential } } });
    const spaces = followSpaces({ client, onError });
    const server = createServer({
      virtualWorkspaces: [spacesView({ spaces, reviews: client, patience: 60_000, onError })],
      authentication: [staticTokens({ bench: { name: "bench" } })],
      tls: { cert, key },
    });
    return (await server.listen({ port: 0 })).port;
  },
};

export type SpacesViewed = typeof commands;

serveCommands(commands);
