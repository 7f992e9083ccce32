import type { Credential } from "../calls/authentication.ts";
import type { Call } from "../calls/call.ts";
import { failureOf } from "../transport-error.ts";
import { Connection, type HttpConnection } from "./connection.ts";
import { Connector, type ConnectorOptions, type Opened } from "./connector.ts";
import { InProcessConnection, InProcessHeads } from "./in-process.ts";

export interface ConnectionsOptions extends Omit<ConnectorOptions, "cert" | "key"> {
  /** Maximum number of concurrent short requests. */
  readonly limit: number;
}

export interface LeaseRequest {
  readonly credential: Credential;
  /** Whether it does not count as a short request. */
  readonly long: boolean;
  /** Whether it needs a new connection. */
  readonly fresh: boolean;
  /** Whether another protocol may follow on its connection, which is then a new one of its own. */
  readonly upgrades: boolean;
  readonly call: Call;
}

/** Connections with one client certificate. */
interface Generation {
  readonly of: string;
  readonly connector: Connector;
  /** Used as a stack: the last one returned is used first. */
  readonly idle: HttpConnection[];
}

/**
 * Connections to one server, with new ones when the client certificate changes. Each request has a connection to itself.
 * Beyond the limit, short requests wait in order, until their deadline.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #all = new Set<HttpConnection>();
  readonly #opening = new Set<AbortController>();
  readonly #waiting = new Set<() => void>();
  #generation: Generation | undefined;
  /** Credential of the last request, which is often that of the next one. */
  #last: Credential | undefined;
  #short = 0;
  readonly #heads: InProcessHeads;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#heads = new InProcessHeads(options.url.host);
    // Reports invalid options at once.
    this.#current({});
  }

  /** Number of open connections. */
  get open(): number {
    return this.#all.size;
  }

  /** Number of requests that wait for their turn or for a new connection. */
  get pending(): number {
    return this.#waiting.size + this.#opening.size;
  }

  /** @throws TransportError without a connection, and the reason that ends the call */
  take(wanted: LeaseRequest): Lease | Promise<Lease> {
    const { fresh, long, upgrades } = wanted;
    const generation = this.#generationOf(wanted);
    if (fresh || upgrades || (!long && this.#short >= this.#options.limit)) return this.#await(wanted, generation);
    const connection = idleOf(generation);
    if (connection === undefined) return this.#await(wanted, generation);
    if (!long) this.#short += 1;
    return this.#lease(connection, generation, long);
  }

  async #await({ call, fresh, long, upgrades }: LeaseRequest, generation: Generation): Promise<Lease> {
    if (!long) await this.#turn(call);
    try {
      const connection =
        (fresh || upgrades ? undefined : idleOf(generation)) ?? (await this.#connect(generation, call, upgrades));
      return this.#lease(connection, generation, long);
    } catch (error) {
      if (!long) this.#next();
      if (call.ended) throw error;
      throw failureOf(error, { what: call.what, delivered: call.delivered, written: false });
    }
  }

  /** Closes all connections at once, including unfinished ones. */
  async destroy(): Promise<void> {
    for (const opening of this.#opening) opening.abort(new Error("closed"));
    const all = [...this.#all];
    for (const connection of all) connection.destroy();
    await Promise.all(all.map(({ closed }) => closed));
  }

  #generationOf({ credential, call }: LeaseRequest): Generation {
    if (credential === this.#last && this.#generation !== undefined) return this.#generation;
    try {
      const generation = this.#current(credential);
      this.#last = credential;
      return generation;
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
    // Connections in use close after their request.
    for (const connection of former?.idle.splice(0) ?? []) connection.destroy();
    return this.#generation;
  }

  /** Waits until there are few enough short requests. */
  async #turn(call: Call): Promise<void> {
    if (this.#short < this.#options.limit) {
      this.#short += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    call.stopsBy({
      stop: (reason) => {
        this.#waiting.delete(resolve);
        reject(reason);
      },
    });
    await promise;
    call.stopsBy(undefined);
  }

  /** Ends a short request and admits the next one. */
  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#short -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  async #connect(generation: Generation, call: Call, plain: boolean): Promise<HttpConnection> {
    const cancel = new AbortController();
    this.#opening.add(cancel);
    call.stopsBy({ stop: (reason) => cancel.abort(reason) });
    let opened: Opened;
    try {
      opened = await generation.connector.open(cancel.signal, plain);
    } finally {
      this.#opening.delete(cancel);
      call.stopsBy(undefined);
    }
    const connection =
      "server" in opened
        ? new InProcessConnection(opened.server, this.#heads)
        : new Connection(this.#options.url.origin, opened);
    this.#all.add(connection);
    void connection.closed.then(() => {
      this.#all.delete(connection);
      const at = generation.idle.indexOf(connection);
      if (at !== -1) generation.idle.splice(at, 1);
    });
    return connection;
  }

  /** Ends the use of a connection. */
  readonly #release = ({ connection, generation, long }: Lease, whole: boolean): void => {
    if (!whole || connection.usable) this.#keep(connection, generation, whole);
    // The response arrived before TLS reported the request as written; that report comes within this turn.
    else setImmediate(() => this.#keep(connection, generation, whole));
    if (!long) this.#next();
  };

  #keep(connection: HttpConnection, generation: Generation, whole: boolean): void {
    if (whole && generation === this.#generation && connection.usable) generation.idle.push(connection);
    else connection.destroy();
  }

  #lease(connection: HttpConnection, generation: Generation, long: boolean): Lease {
    return new Lease({ connection, generation, long, release: this.#release });
  }
}

/** Connection for one request. */
export class Lease {
  readonly connection: HttpConnection;
  readonly generation: Generation;
  readonly long: boolean;
  /** Whether a request has used it before. */
  readonly used: boolean;
  readonly #release: (lease: Lease, whole: boolean) => void;
  #over = false;

  constructor({ connection, generation, long, release }: Leased) {
    this.connection = connection;
    this.generation = generation;
    this.long = long;
    this.used = connection.used;
    connection.used = true;
    this.#release = release;
  }

  /** Ends the use. @param whole whether the response is complete: otherwise the connection closes */
  release(whole: boolean): void {
    if (this.#over) return;
    this.#over = true;
    this.#release(this, whole);
  }
}

interface Leased extends Pick<Lease, "connection" | "generation" | "long"> {
  readonly release: (lease: Lease, whole: boolean) => void;
}

function idleOf({ idle }: Generation): HttpConnection | undefined {
  for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
    if (connection.usable) return connection;
    connection.destroy();
  }
  return undefined;
}
