// A real server behind a wire on which anything can go wrong, at a chosen moment and to chosen requests: what clients are
// tried with. It speaks to both sides on raw sockets, so that what it breaks is broken as a network or a proxy breaks it.
import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { KeyPair } from "./certificates.ts";
import { type Asked, Connection, type Surroundings } from "./faulty-connection.ts";
import type { Fault } from "./faulty-kinds.ts";
import type { FaultyRequest } from "./faulty-request.ts";

export { type Fault, faults } from "./faulty-kinds.ts";
export type { FaultyRequest } from "./faulty-request.ts";

/** Which requests: a pattern on `GET /path?query`, or a function. */
export type Matching = RegExp | ((request: FaultyRequest) => boolean);

export interface FailOptions {
  /** @default all */
  readonly on?: Matching;
  /** How many of them. @default all that come */
  readonly times?: number;
}

/** A fault that is in force. Disposing of it ends that. */
export interface Rule extends Disposable {
  /** How many requests it has met. */
  readonly met: number;
}

export interface FaultyOptions {
  /** The certificate that clients are shown. @default they speak plain HTTP */
  readonly tls?: KeyPair;
}

/** Starts one before a real server, on a port of its own. @param target `http://127.0.0.1:1234`; of https, any certificate is taken */
export async function startFaulty(target: string, options: FaultyOptions = {}): Promise<FaultyUpstream> {
  const faulty = new FaultyUpstream(target, options);
  await faulty.start();
  return faulty;
}

/** Stands between clients and a real server. Lets everything through until told otherwise; the last that was told wins. */
export class FaultyUpstream implements AsyncDisposable {
  /** Every request that came, in order; those of a black hole as soon as it heals. */
  readonly requests: FaultyRequest[] = [];
  /** Bytes from clients, and to them. */
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

  /** Connections of clients that are open now. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Connections of clients since the beginning. */
  get opened(): number {
    return this.#opened;
  }

  /** How many such requests have come. */
  count(on: Matching): number {
    return this.requests.filter((request) => matches(on, request)).length;
  }

  /** From now on, such requests fare so. */
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

  /** No byte passes any more, either way; open connections stay open, and new ones are accepted. */
  blackHole(): void {
    this.#blocked ??= Promise.withResolvers();
    for (const connection of this.#connections) connection.block(true);
  }

  /** All is well again, and what a black hole held arrives. A connection that a fault has hung stays so. */
  heal(): void {
    for (const rule of this.#rules.splice(0)) rule.left = 0;
    const blocked = this.#blocked;
    this.#blocked = undefined;
    blocked?.resolve();
    for (const connection of this.#connections) connection.block(false);
  }

  /** Resets all connections; new ones are made again. */
  cut(): void {
    for (const connection of [...this.#connections]) connection.end("reset");
  }

  /** Resets all connections and refuses new ones. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, "close");
    server.close();
    this.cut();
    await closed;
  }

  /** Listens again, on the same port. */
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

  /** Resolves when it is so; looked at whenever a connection, a request or bytes come or go. @throws after `patience` ms */
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

/** A client that has said all may still be answered. */
const OPEN = { allowHalfOpen: true, noDelay: true } as const;
const pass = (asked: Asked): void => asked.forward();

function matches(on: Matching, request: FaultyRequest): boolean {
  return on instanceof RegExp ? on.test(`${request.method} ${request.path}`) : on(request);
}
