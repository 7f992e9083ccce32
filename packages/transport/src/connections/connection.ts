/// <reference path="../undici.d.ts" />
import type { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import Client from "undici/lib/dispatcher/client.js";
import { ignored } from "./connector.ts";

/** The largest head of an answer, bytes: Go's limit. */
const LARGEST_HEAD = 1024 * 1024;
/** How long a connection is kept for the next request, unless its server says less, ms. */
const KEPT = 30_000;

/** One connection, and the HTTP on it: one request at a time. When it ends, it is over: no other takes its place. */
export class Connection {
  /** Whether it has been used before: then its server may have closed it just now. */
  used = false;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  readonly #socket: Duplex;
  readonly #client: Client;
  /** Whether its last request was to be its end as HTTP. */
  #upgrades = false;

  constructor(origin: string, socket: Duplex) {
    this.#socket = socket;
    socket.on("error", ignored);
    this.closed = new Promise((resolve) => {
      if (socket.closed) resolve();
      else socket.once("close", resolve);
    });
    let given = false;
    this.#client = new Client(origin, {
      pipelining: 1,
      keepAliveTimeout: KEPT,
      maxHeaderSize: LARGEST_HEAD,
      // Deadlines are ours to watch.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
      connect: (_options: unknown, done: (error: Error | null, socket: Duplex | null) => void) => {
        const first = !given;
        given = true;
        // Later, as a connection comes: undici does not look again when it is given at once.
        queueMicrotask(() => (first ? done(null, socket) : done(new Error("the connection was closed"), null)));
      },
    } as Client.Options);
    this.#client.on("disconnect", (_origin, _targets, { message }: Error) => {
      // Undici is done with it then, and whoever has asked for the upgrade is not.
      if (!(this.#upgrades && message === "upgrade")) this.destroy();
    });
    (this.#client as EventEmitter).on("error", () => this.destroy());
  }

  /** Whether another request can be sent on it. Not behind an upgrade that was refused: who knows what its server takes it for. */
  get usable(): boolean {
    const { destroyed, readableEnded, writableLength } = this.#socket;
    return !this.#upgrades && !destroyed && !readableEnded && writableLength === 0;
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#upgrades = typeof request.upgrade === "string";
    this.#client.dispatch(request, handler);
  }

  /** At once, and what is under way with it. */
  destroy(): void {
    this.#socket.destroy();
    this.#client.destroy(null, ignored);
  }
}
