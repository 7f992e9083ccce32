// Two ends of a tunnel over a connection of their own, and servers behind the agent.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls";
import { AgentEnd, type AgentEndOptions, HubEnd, type HubEndOptions } from "@virtual-workspaces/cluster-proxy";
import { issueCertificate } from "@virtual-workspaces/framework/tls";

export interface Ends extends AsyncDisposable {
  readonly hub: HubEnd;
  readonly agent: AgentEnd;
}

export interface EndsOptions {
  readonly agent: AgentEndOptions;
  readonly hub?: HubEndOptions;
}

/** Returns both ends of a connection. */
export async function pair(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const far = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  const [[near]] = (await Promise.all([once(server, "connection"), once(far, "connect")])) as [[Socket], unknown];
  server.close();
  return [near, far];
}

/** Returns both ends of a TLS connection. */
export async function tlsPair(): Promise<readonly [TLSSocket, TLSSocket]> {
  const about = { subject: { name: "hub", groups: [] }, now: new Date() };
  const authority = await issueCertificate({ ...about, purpose: { kind: "authority" } });
  const purpose = { kind: "server", hosts: ["hub"], addresses: [] } as const;
  const { cert, key } = await issueCertificate({ ...about, purpose }, authority);
  const server = createTlsServer({ cert, key }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const far = connectTls({ port, host: "127.0.0.1", ca: authority.cert, servername: "hub" });
  const [[near]] = (await Promise.all([once(server, "secureConnection"), once(far, "secureConnect")])) as [
    [TLSSocket],
    unknown,
  ];
  server.close();
  return [near, far];
}

/** @param sockets the hub's and the agent's end of the connection */
export async function ends(options: EndsOptions, sockets?: readonly [Duplex, Duplex]): Promise<Ends> {
  const [near, far] = sockets ?? (await pair());
  const hub = new HubEnd(near, options.hub);
  const agent = new AgentEnd(far, options.agent);
  return {
    hub,
    agent,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([hub[Symbol.asyncDispose](), agent[Symbol.asyncDispose]()]);
    },
  };
}

/** A TCP server behind the agent. */
export class Behind implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined).once("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(serve: (socket: Socket) => void): Promise<Behind> {
    const server = createServer({ allowHalfOpen: true }, serve).listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Behind(server);
  }

  /** Number of open connections. */
  get open(): number {
    return this.#sockets.size;
  }

  readonly dial = async (): Promise<Duplex> => {
    const { port } = this.#server.address() as AddressInfo;
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    return socket;
  };

  /** Targets that lead to this server. */
  get targets(): AgentEndOptions["targets"] {
    return (name) => (name === "api" ? { dial: this.dial } : undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Reads until the end of a stream. */
export async function read(stream: Duplex): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}
