// An agent, which dials a hub by whatever means, and what is behind it besides an API server: as many bytes as are asked for, either way.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { AgentEnd } from "@virtual-workspaces/cluster-proxy";
import { serveCommands } from "../_harness/commands.ts";
import { agentOf, type Way } from "../_harness/tunnels.ts";

const PIECE = Buffer.alloc(256 * 1024);

/** `d 1000` is answered by so many bytes, `u 1000` by a word once so many have come. */
async function serve(socket: Socket): Promise<void> {
  socket.on("error", () => undefined);
  const [first] = (await once(socket, "data")) as [Buffer];
  const line = first.indexOf("\n");
  const [way, size] = first.toString("latin1", 0, line).split(" ");
  let left = Number(size);
  if (way === "d") {
    Readable.from(pieces(left)).pipe(socket);
    return;
  }
  left -= first.length - line - 1;
  socket.on("data", (piece) => {
    left -= piece.length;
    if (left <= 0) socket.end("all of it");
  });
}

function* pieces(size: number): Generator<Buffer> {
  for (let left = size; left > 0; left -= PIECE.length) yield PIECE.subarray(0, Math.min(left, PIECE.length));
}

const commands = {
  /** @param api the port of the API server */
  dial: async ({ way, hub, api }: { readonly way: Way; readonly hub: number; readonly api: number }): Promise<void> => {
    const server = createServer(
      { allowHalfOpen: true, noDelay: true },
      (socket) => void serve(socket).catch(() => socket.destroy()),
    ).listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = connect({ port: hub, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    agentOf(way, socket, { api, data: (server.address() as AddressInfo).port });
  },
  /** Agents that nobody asks for anything, over TLS; of the rival only that. */
  idle: async ({
    hub,
    count,
    ours,
  }: {
    readonly hub: number;
    readonly count: number;
    readonly ours: boolean;
  }): Promise<void> => {
    for (let made = 0; made < count; made += 50)
      await Promise.all(
        Array.from({ length: Math.min(50, count - made) }, async () => {
          const socket = connectTls({ port: hub, host: "127.0.0.1", rejectUnauthorized: false });
          await once(socket, "secureConnect");
          if (ours) new AgentEnd(socket, { targets: () => undefined });
        }),
      );
  },
};

export type TunnelAgent = typeof commands;

serveCommands(commands);
