// Ways through a connection that an agent has dialled: ours, the barest that does the same, and a stream for each request.
import { once } from "node:events";
import { request as httpRequest, Agent as KeptConnections } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2, performServerHandshake } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AgentEnd, HubEnd } from "@virtual-workspaces/cluster-proxy";

export type Way = "ours" | "bare" | "streams";

/** The hub's end. */
export interface Hub {
  open(target: string): Promise<Duplex>;
  /** Of a stream for each request. */
  readonly session?: ClientHttp2Session;
  /** Bytes that have come through the connection. */
  readonly read: () => number;
  /** Of ours: resolves when it has ended. */
  readonly closed?: Promise<unknown>;
}

/** What the hub makes of a connection that an agent has dialled. */
export function hubOf(way: Way, socket: Socket): Hub {
  if (way === "ours") {
    const end = new HubEnd(socket);
    return { open: (target) => end.open(target), read: () => end.stats.read, closed: end.closed };
  }
  const session = connectHttp2("http://agent", { createConnection: () => socket });
  return { session, open: (target) => opened(session, target), read: () => socket.bytesRead };
}

async function opened(session: ClientHttp2Session, target: string): Promise<Duplex> {
  const stream = session.request({ ":method": "CONNECT", ":authority": target }, { endStream: false });
  const [headers] = await once(stream, "response");
  if (headers[":status"] !== 200) throw new Error(`${target}: ${headers[":status"]}`);
  return stream;
}

/** The agent's end. @param port of the server that each of them leads to */
export function agentOf(way: Way, socket: Socket, ports: Readonly<Record<string, number>>): void {
  const dialled = (name: string): Socket =>
    connectTcp({ port: ports[name] ?? 0, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  if (way === "ours") {
    const dial = async (name: string): Promise<Socket> => {
      const there = dialled(name);
      await once(there, "connect");
      return there;
    };
    new AgentEnd(socket, { targets: (name) => (name in ports ? { dial: () => dial(name) } : undefined) });
    return;
  }
  const agent = new KeptConnections({ keepAlive: true });
  performServerHandshake(socket).on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    if (way === "bare") {
      const there = dialled(String(headers[":authority"])).on("error", () => stream.destroy());
      stream.respond({ ":status": 200 });
      stream.pipe(there).pipe(stream);
      return;
    }
    const { ":method": method, ":path": path, ...others } = headers;
    const passed = Object.entries(others).filter(([name]) => !name.startsWith(":"));
    const asked = { agent, port: ports["api"], host: "127.0.0.1", method, path, headers: Object.fromEntries(passed) };
    httpRequest(asked as object, (answer) => {
      const { connection: _connection, "keep-alive": _keepAlive, ...kept } = answer.headers;
      stream.respond({ ":status": answer.statusCode, ...kept });
      answer.pipe(stream);
    }).end();
  });
}
