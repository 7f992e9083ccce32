import type { Duplex } from "node:stream";
import type { Credential } from "../calls/authentication.ts";
import type { Call } from "../calls/call.ts";
import { failureOf } from "../transport-error.ts";
import { Connection } from "./connection.ts";
import { Connector, type ConnectorOptions } from "./connector.ts";

export interface ConnectionsOptions extends Omit<ConnectorOptions, "cert" | "key"> {
  /** How many short requests may be under way. */
  readonly limit: number;
}

export interface LeaseRequest {
  readonly credential: Credential;
  /** Whether it does not count as a short request. */
  readonly long: boolean;
  /** Whether it must be a new connection. */
  readonly fresh: boolean;
  readonly call: Call;
}

/** A connection for one request. */
export interface Lease {
  readonly connection: Connection;
  /** Whether it was used before. */
  readonly used: boolean;
  /** The request is over. @param whole whether its answer came to its end: else the connection ends */
  release(whole: boolean): void;
}

/** Connections that show one certificate. */
interface Generation {
  readonly of: string;
  readonly connector: Connector;
  /** The last that was used is the first to be used again. */
  readonly idle: Connection[];
}

/**
 * Connections to one server; new ones when the client certificate changes. Each request has one of its own for as long as
 * it takes; short ones wait for their turn beyond a number of them, in order, until their deadline.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #all = new Set<Connection>();
  readonly #opening = new Set<AbortController>();
  readonly #waiting = new Set<() => void>();
  #generation: Generation | undefined;
  #short = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    // What is wrong with the options is told at once.
    this.#current({});
  }

  /** How many connections are open. */
  get open(): number {
    return this.#all.size;
  }

  /** How many requests wait: for their turn, or for a connection to be made. */
  get pending(): number {
    return this.#waiting.size + this.#opening.size;
  }

  /** @throws TransportError when there is none, and what the call is ended with */
  take(wanted: LeaseRequest): Lease | Promise<Lease> {
    const { fresh, long } = wanted;
    const generation = this.#generationOf(wanted);
    if (fresh || (!long && this.#short >= this.#options.limit)) return this.#await(wanted, generation);
    const connection = idleOf(generation);
    if (connection === undefined) return this.#await(wanted, generation);
    if (!long) this.#short += 1;
    return this.#lease(connection, { generation, long });
  }

  async #await({ call, fresh, long }: LeaseRequest, generation: Generation): Promise<Lease> {
    if (!long) await this.#turn(call);
    try {
      const connection = (fresh ? undefined : idleOf(generation)) ?? (await this.#connect(generation, call));
      return this.#lease(connection, { generation, long });
    } catch (error) {
      if (!long) this.#next();
      if (call.ended) throw error;
      throw failureOf(error, { what: call.what, delivered: call.delivered, written: false });
    }
  }

  /** Ends all connections at once, made and being made. */
  async destroy(): Promise<void> {
    for (const opening of this.#opening) opening.abort(new Error("closed"));
    const all = [...this.#all];
    for (const connection of all) connection.destroy();
    await Promise.all(all.map(({ closed }) => closed));
  }

  #generationOf({ credential, call }: LeaseRequest): Generation {
    try {
      return this.#current(credential);
    } catch (error) {
      throw failureOf(error, { what: call.what, delivered: call.delivered, written: false });
    }
  }

  #current({ cert = "", key = "" }: Credential): Generation {
    const of = `${cert}\n${key}`;
    const former = this.#generation;
    if (former?.of === of) return former;
    const connector = new Connector({ ...this.#options, cert, key });
    this.#generation = { of, connector, idle: [] };
    // Those that are in use end with what they are used for.
    for (const connection of former?.idle.splice(0) ?? []) connection.destroy();
    return this.#generation;
  }

  /** Waits until there are few enough others. */
  async #turn(call: Call): Promise<void> {
    if (this.#short < this.#options.limit) {
      this.#short += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    call.stopsBy((reason) => {
      this.#waiting.delete(resolve);
      reject(reason);
    });
    await promise;
    call.stopsBy(undefined);
  }

  /** A short request is over: the next that waits has its turn. */
  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#short -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  async #connect(generation: Generation, call: Call): Promise<Connection> {
    const cancel = new AbortController();
    this.#opening.add(cancel);
    call.stopsBy((reason) => cancel.abort(reason));
    let socket: Duplex;
    try {
      socket = await generation.connector.open(cancel.signal);
    } finally {
      this.#opening.delete(cancel);
      call.stopsBy(undefined);
    }
    const connection = new Connection(this.#options.url.origin, socket);
    this.#all.add(connection);
    void connection.closed.then(() => {
      this.#all.delete(connection);
      const at = generation.idle.indexOf(connection);
      if (at !== -1) generation.idle.splice(at, 1);
    });
    return connection;
  }

  #keep(connection: Connection, { generation, whole }: { generation: Generation; whole: boolean }): void {
    if (whole && generation === this.#generation && connection.usable) generation.idle.push(connection);
    else connection.destroy();
  }

  #lease(connection: Connection, { generation, long }: { generation: Generation; long: boolean }): Lease {
    const { used } = connection;
    connection.used = true;
    let over = false;
    return {
      connection,
      used,
      release: (whole) => {
        if (over) return;
        over = true;
        if (!whole || connection.usable) this.#keep(connection, { generation, whole });
        // The answer was here before TLS had told that the request was written: it tells within this turn.
        else setImmediate(() => this.#keep(connection, { generation, whole }));
        if (!long) this.#next();
      },
    };
  }
}

function idleOf({ idle }: Generation): Connection | undefined {
  for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
    if (connection.usable) return connection;
    connection.destroy();
  }
  return undefined;
}
