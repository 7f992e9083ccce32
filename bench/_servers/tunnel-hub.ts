// A hub that passes requests on through the connection which its agent has dialled, by whatever means.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import type { ClientHttp2Session } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { HubEnd } from "@virtual-workspaces/cluster-proxy";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { Pool } from "undici";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { passedOn, Relayed } from "../_harness/relayed.ts";
import { type Hub, hubOf, type Way } from "../_harness/tunnels.ts";

let hub: Hub;
let held: Duplex[] = [];
const idle: (TLSSocket | HubEnd)[] = [];

async function port(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Each request on a stream of its own. */
function streamed(
  session: ClientHttp2Session,
  path: string,
  { headers, res }: { headers: readonly string[]; res: ServerResponse },
): void {
  const pairs = Array.from({ length: headers.length / 2 }, (_, at) => [headers[at * 2], headers[at * 2 + 1]]);
  const stream = session.request({ ":method": "GET", ":path": path, ...Object.fromEntries(pairs) });
  stream.on("error", () => res.destroy());
  stream.once("response", ({ ":status": status, ...others }) => {
    res.writeHead(Number(status), others as Record<string, string>);
    stream.pipe(res);
  });
}

async function connected(): Promise<Hub> {
  while (hub === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  return hub;
}

const commands = {
  /** @returns where the agent dials, and where clients ask */
  listen: async (way: Way): Promise<{ readonly agents: number; readonly clients: number }> => {
    const agents = createServer({ noDelay: true }, (socket: Socket) => {
      hub = hubOf(way, socket);
    });
    const pool = new Pool("http://api", {
      connections: 256,
      pipelining: 1,
      connect: (_options: unknown, done: (error: Error | null, socket: Duplex | null) => void) => {
        hub.open("api").then(
          (stream) => done(null, stream),
          (error: Error) => done(error, null),
        );
      },
    } as Pool.Options);
    const clients = createHttpServer({ keepAliveTimeout: 120_000, noDelay: true }, (req, res) => {
      const [path, headers] = [req.url ?? "/", passedOn(req)];
      if (way === "streams" && hub.session !== undefined) streamed(hub.session, path, { headers, res });
      else pool.dispatch({ method: "GET", path, headers }, new Relayed(res));
    });
    return { agents: await port(agents), clients: await listen(clients) };
  },
  /** Reads, or writes, so many bytes on one connection. @returns bytes a second */
  transfer: async ({ size, up }: { readonly size: number; readonly up: boolean }): Promise<number> => {
    const stream = await (await connected()).open("data");
    const began = performance.now();
    stream.write(`${up ? "u" : "d"} ${size}\n`);
    let read = 0;
    stream.on("data", (piece: Buffer) => {
      read += piece.length;
    });
    const ended = once(stream, "end");
    const piece = Buffer.alloc(256 * 1024);
    for (let left = up ? size : 0; left > 0; left -= piece.length)
      if (!stream.write(piece.subarray(0, Math.min(left, piece.length)))) await once(stream, "drain");
    await ended;
    stream.end();
    assert.equal(read, up ? "all of it".length : size);
    return size / ((performance.now() - began) / 1000);
  },
  /** Asks for so much on so many connections, and reads nothing of it. @returns bytes that have come for all of them */
  hold: async ({ count, size }: { readonly count: number; readonly size: number }): Promise<number> => {
    const { open, read } = await connected();
    const before = read();
    held = await Promise.all(Array.from({ length: count }, () => open("data")));
    for (const stream of held) stream.on("error", () => undefined).write(`d ${size}\n`);
    for (let last = -1; last !== read(); ) {
      last = read();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    return read() - before;
  },
  release: (): void => {
    for (const stream of held.splice(0)) stream.destroy();
  },
  /** Resolves when the connection of the agent has ended. @returns how long that took, s */
  ended: async (): Promise<number> => {
    const began = performance.now();
    await (await connected()).closed;
    return (performance.now() - began) / 1000;
  },
  /** Takes agents over TLS; of the rival only that. */
  idle: async (ours: boolean): Promise<number> => {
    const pair = await issueCertificate({
      subject: { name: "hub", groups: [] },
      purpose: { kind: "authority" },
      now: new Date(),
    });
    const server = createTlsServer({ cert: pair.cert, key: pair.key }, (socket) => {
      socket.on("error", () => undefined);
      idle.push(ours ? new HubEnd(socket) : socket);
    });
    return port(server);
  },
  /** Resolves when so many are there. */
  idlers: async (count: number): Promise<void> => {
    while (idle.length < count) await new Promise((resolve) => setTimeout(resolve, 50));
  },
  /** Resolves when every one of ours has answered. */
  heard: async (): Promise<void> => {
    const silent = (end: TLSSocket | HubEnd): boolean => end instanceof HubEnd && end.stats.heartbeat === undefined;
    while (idle.some(silent)) await new Promise((resolve) => setTimeout(resolve, 50));
  },
};

export type TunnelHub = typeof commands;

serveCommands(commands);
