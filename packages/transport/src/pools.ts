import { buildConnector, Pool } from "undici";
import type { Credential } from "./credentials.ts";
import type { Dial, UpstreamTls } from "./tls.ts";

export interface PoolsOptions {
  readonly origin: string;
  readonly tls: UpstreamTls;
  /** ms */
  readonly connect: number;
  /** Connections for short requests. */
  readonly connections: number;
  readonly dial: Dial | undefined;
}

/** The connections that show one client certificate: some for short requests, and as many as it takes for long ones. */
export interface PoolPair {
  readonly short: Pool;
  readonly long: Pool;
}

/** The largest head of an answer, bytes: Go's limit. */
const LARGEST_HEAD = 1024 * 1024;
/** How long a connection is kept for the next request, ms. */
const KEPT = 30_000;
/** After so long without a byte the kernel asks each second whether the other side is there, and gives up after ten, ms. */
const PROBED_AFTER = 4_000;

/** Connections to one server; new ones when the client certificate changes. */
export class Pools {
  readonly #options: PoolsOptions;
  #pair: (PoolPair & { readonly of: string }) | undefined;
  readonly #retired = new Set<Promise<unknown>>();

  constructor(options: PoolsOptions) {
    this.#options = options;
  }

  /** Those that show this client certificate. */
  of({ cert = "", key = "" }: Credential): PoolPair {
    const of = `${cert}\n${key}`;
    if (this.#pair?.of === of) return this.#pair;
    this.#retire();
    this.#pair = {
      of,
      short: this.#open(this.#options.connections, { cert, key }),
      long: this.#open(null, { cert, key }),
    };
    return this.#pair;
  }

  /** How many connections are open. */
  get open(): number {
    return (this.#pair?.short.stats.connected ?? 0) + (this.#pair?.long.stats.connected ?? 0);
  }

  /** Ends all connections at once. */
  async destroy(reason: Error): Promise<void> {
    const pair = this.#pair;
    this.#pair = undefined;
    await Promise.all([pair?.short.destroy(reason), pair?.long.destroy(reason)]);
  }

  /** What is under way on them goes on. */
  #retire(): void {
    for (const pool of [this.#pair?.short, this.#pair?.long]) {
      if (pool === undefined) continue;
      const closed = pool.close().finally(() => this.#retired.delete(closed));
      this.#retired.add(closed);
    }
  }

  #open(connections: number | null, { cert, key }: { readonly cert: string; readonly key: string }): Pool {
    const { origin, tls, connect } = this.#options;
    return new Pool(origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: KEPT,
      maxHeaderSize: LARGEST_HEAD,
      allowH2: false,
      // Both deadlines are ours to watch.
      headersTimeout: 0,
      connect: buildConnector({
        allowH2: false,
        timeout: connect,
        keepAliveInitialDelay: PROBED_AFTER,
        rejectUnauthorized: tls.insecureSkipVerify !== true,
        ...(tls.ca === undefined ? {} : { ca: tls.ca }),
        ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
        ...(cert === "" ? {} : { cert, key }),
      }),
    });
  }
}
