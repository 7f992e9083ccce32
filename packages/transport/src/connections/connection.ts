/// <reference path="../undici.d.ts" />
import type { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import Client from "undici/lib/dispatcher/client.js";
import { ignored, type OpenSocket } from "./connector.ts";

/** Maximum size of a response's head, in bytes: Go's limit. */
const LARGEST_HEAD = 1024 * 1024;
/** Time that an idle connection is kept, unless its server announces less, ms. */
const KEPT = 30_000;

/** Where a request is sent, one at a time. */
export interface HttpConnection {
  used: boolean;
  /** Whether another request can use it. */
  readonly usable: boolean;
  /** Resolves when it has ended. */
  readonly closed: Promise<void>;
  /** Whether chunks of a body may be overwritten as soon as their handler returns. */
  lends: boolean;
  /** Whether the present chunk will be overwritten. */
  readonly lent: boolean;
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  /** Ends it at once, with its pending request. */
  destroy(): void;
}

/** Connection with its HTTP, one request at a time. It is never replaced after its end. */
export class Connection implements HttpConnection {
  /** Whether a request has used it before: then its server may have just closed it. */
  used = false;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  readonly #socket: Duplex;
  readonly #reads: OpenSocket["reads"];
  readonly #client: Client;
  /** Whether its last request asked for an upgrade. */
  #upgrades = false;

  constructor(origin: string, { socket, reads }: OpenSocket) {
    this.#socket = socket;
    this.#reads = reads;
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
      // Exchanges enforce the deadlines.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
      connect: (_options: unknown, done: (error: Error | null, socket: Duplex | null) => void) => {
        const first = !given;
        given = true;
        // Deferred, like a real connection: undici ignores one that it gets synchronously.
        queueMicrotask(() => (first ? done(null, socket) : done(new Error("the connection was closed"), null)));
      },
    } as Client.Options);
    this.#client.on("disconnect", (_origin, _targets, { message }: Error) => {
      // After an upgrade, undici gives up the socket, but the caller keeps it.
      if (!(this.#upgrades && message === "upgrade")) this.destroy();
    });
    (this.#client as EventEmitter).on("error", () => this.destroy());
  }

  /** Whether another request can use it. Not after a rejected upgrade: the server may treat it as another protocol. */
  get usable(): boolean {
    const { destroyed, readableEnded, writableLength } = this.#socket;
    return !this.#upgrades && !destroyed && !readableEnded && writableLength === 0;
  }

  /** Sets whether reads of now on may be overwritten as soon as their handler returns. Only within a body. */
  get lends(): boolean {
    return this.#reads?.lends === true;
  }

  set lends(lends: boolean) {
    if (this.#reads !== undefined) this.#reads.lends = lends;
  }

  /** Whether the present read will be overwritten. */
  get lent(): boolean {
    return this.#reads?.lent === true;
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#upgrades = typeof request.upgrade === "string";
    this.#client.dispatch(request, handler);
  }

  /** Closes the connection at once, with its pending request. */
  destroy(): void {
    this.#socket.destroy();
    this.#client.destroy(null, ignored);
  }
}
