// Real server behind a faulty network, for tests of clients: faults occur at a chosen moment, for chosen requests. It uses
// raw sockets on both sides, so that faults look like those of a network or a proxy.
import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { KeyPair } from "./certificates.ts";
import { type Asked, Connection, type Surroundings } from "./faulty-connection.ts";
import type { Fault } from "./faulty-kinds.ts";
import type { FaultyRequest } from "./faulty-request.ts";

export { type Fault, faults } from "./faulty-kinds.ts";
export type { FaultyRequest } from "./faulty-request.ts";

/** Selects requests, by a pattern on `GET /path?query` or by a function. */
export type Matching = RegExp | ((request: FaultyRequest) => boolean);

export interface FailOptions {
  /** Affected requests. @default all */
  readonly on?: Matching;
  /** Maximum number of affected requests. @default unlimited */
  readonly times?: number;
}

/** Active fault. Disposing it ends the fault. */
export interface Rule extends Disposable {
  /** Number of requests affected so far. */
  readonly met: number;
}

export interface FaultyOptions {
  /** Certificate for clients. @default none, clients use plain HTTP */
  readonly tls?: KeyPair;
}

/**
 * Starts a FaultyUpstream in front of a real server, on a port of its own.
 * @param target `http://127.0.0.1:1234`; certificates of an https server are not verified
 */
export async function startFaulty(target: string, options: FaultyOptions = {}): Promise<FaultyUpstream> {
  const faulty = new FaultyUpstream(target, options);
  await faulty.start();
  return faulty;
}

/** Proxy between clients and a real server. It forwards everything until a fault is set; the newest fault wins. */
export class FaultyUpstream implements AsyncDisposable {
  /** All requests, in order. Those of a black hole appear once it heals. */
  readonly requests: FaultyRequest[] = [];
  /** Bytes from clients and to clients. */
  readonly bytes = { received: 0, sent: 0 };
  readonly #scheme: string;
  readonly #make: () => Server;
  readonly #around: Surroundings;
  readonly #connections = new Set<Connection>();
  readonly #rules: { readonly fault: Fault; readonly on: Matching; left: number; met: number }[] = [];
  #server: Server | undefined;
  #port = 0;
  #opened = 0;
  #blocked: PromiseWithResolvers<void> | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(target: string, { tls }: FaultyOptions) {
    this.#scheme = tls === undefined ? "http" : "https";
    this.#make = () => (tls === undefined ? createTcpServer(OPEN) : createTlsServer({ ...OPEN, ...tls }));
    const whole = this;
    this.#around = {
      target: new URL(target),
      decide: (request) => this.#decide(request),
      passable: async () => this.#blocked?.promise,
      get blocked() {
        return whole.#blocked !== undefined;
      },
      count: (direction, bytes) => {
        this.bytes[direction] += bytes;
        this.#tell();
      },
      closed: (connection) => {
        this.#connections.delete(connection);
        this.#tell();
      },
    };
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  /** Number of open client connections. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Number of client connections since the start. */
  get opened(): number {
    return this.#opened;
  }

  /** Returns how many matching requests have arrived. */
  count(on: Matching): number {
    return this.requests.filter((request) => matches(on, request)).length;
  }

  /** Applies a fault to matching requests from now on. */
  fail(fault: Fault, { on = () => true, times = Number.POSITIVE_INFINITY }: FailOptions = {}): Rule {
    const rule = { fault, on, left: times, met: 0 };
    this.#rules.unshift(rule);
    return {
      get met() {
        return rule.met;
      },
      [Symbol.dispose]: () => {
        rule.left = 0;
      },
    };
  }

  /** Stops all bytes in both directions. Open connections stay open, and new ones are accepted. */
  blackHole(): void {
    this.#blocked ??= Promise.withResolvers();
    for (const connection of this.#connections) connection.block(true);
  }

  /** Ends all faults, and forwards the bytes that a black hole held back. A connection that hangs stays so. */
  heal(): void {
    for (const rule of this.#rules.splice(0)) rule.left = 0;
    const blocked = this.#blocked;
    this.#blocked = undefined;
    blocked?.resolve();
    for (const connection of this.#connections) connection.block(false);
  }

  /** Resets all connections; clients may open new ones. */
  cut(): void {
    for (const connection of [...this.#connections]) connection.end("reset");
  }

  /** Resets all connections and rejects new ones. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, "close");
    server.close();
    this.cut();
    await closed;
  }

  /** Listens again on the same port. */
  async start(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = this.#make();
    server.on(this.#scheme === "http" ? "connection" : "secureConnection", (client) => {
      this.#opened += 1;
      this.#connections.add(new Connection(client, this.#around));
      this.#tell();
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Resolves when the condition holds, which is checked after each event on a connection. @throws after `patience` ms */
  async until(condition: (faulty: this) => boolean, patience = 15_000): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`not within ${patience} ms: ${condition}`)), patience);
    try {
      while (!condition(this)) await Promise.race([this.#changed.promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.heal();
    await this.stop();
  }

  #decide(request: FaultyRequest): Fault {
    this.requests.push(request);
    const rule = this.#rules.find(({ on, left }) => left > 0 && matches(on, request));
    if (rule !== undefined) {
      rule.left -= 1;
      rule.met += 1;
    }
    this.#tell();
    return rule?.fault ?? pass;
  }

  #tell(): void {
    const changed = this.#changed;
    this.#changed = Promise.withResolvers();
    changed.resolve();
  }
}

/** A client that has ended its side may still receive the answer. */
const OPEN = { allowHalfOpen: true, noDelay: true } as const;
const pass = (asked: Asked): void => asked.forward();

function matches(on: Matching, request: FaultyRequest): boolean {
  return on instanceof RegExp ? on.test(`${request.method} ${request.path}`) : on(request);
}
