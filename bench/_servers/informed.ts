// What informers follow: notes over TLS, directly, over a wire that can be cut, over one that goes dead, and at a port that
// answers 503 for a while.
import { once } from "node:events";
import { createServer as createHttps } from "node:https";
import {
  authenticated,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { TlsOptions } from "@virtual-workspaces/framework/tls";
import { type Relay, startRelay } from "../../test/_support/relay.ts";
import { startWire, type Wire } from "../../test/client/informer/wire.ts";
import { serveCommands } from "../_harness/commands.ts";

const Note = defineResource({
  group: "bench.example",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});
const notes = Note.collection();
let tls: TlsOptions;
let server: Server;
let relay: Relay;
let wire: Wire;

async function serve(port: number): Promise<number> {
  server = createServer({
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        authorize: authenticated(),
        resources: [Note.serve(notes)],
      }),
    ],
    authentication: [staticTokens({ token: { name: "alice" } })],
    tls,
  });
  return (await server.listen({ port })).port;
}

const commands = {
  /** @returns the ports */
  listen: async (options: TlsOptions) => {
    tls = options;
    const port = await serve(0);
    relay = await startRelay(port);
    wire = await startWire(port);
    return { direct: port, cut: relay.port, dead: wire.port };
  },
  fill: (count: number): void => {
    for (let n = 0; n < count; n++) notes.in("root").set(`n${n}`, { text: `${n} `.repeat(200).slice(0, 700) });
  },
  /** Writes an object. @returns when, ms since the epoch */
  set: (name: string): number => {
    notes.in("root").set(name, { text: String(Math.random()) });
    return Date.now();
  },
  cut: (): void => relay.cut(),
  deaden: (): void => wire.deaden(),
  /** Stops, and answers 503 for so many ms instead; then it is there again. */
  spell: async ({ port, milliseconds }: { port: number; milliseconds: number }): Promise<void> => {
    await server.close();
    const { cert, key } = tls as { cert: string; key: string };
    const stand = createHttps({ cert, key }, (_req, res) => void res.writeHead(503).end("not now"));
    stand.listen(port, "127.0.0.1");
    await once(stand, "listening");
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    stand.close();
    stand.closeAllConnections();
    await once(stand, "close");
    await serve(port);
  },
};

export type Informed = typeof commands;

serveCommands(commands);
