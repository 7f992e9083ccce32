import type { Dispatcher } from "undici";
import type { ResponseHeaders } from "../http/headers.ts";
import type {
  InProcessCall,
  InProcessRequest,
  InProcessResponse,
  InProcessServer,
  InProcessWhole,
} from "../http/in-process.ts";
import type { HttpConnection } from "./connection.ts";

/** Heads of requests to a server of the same process, with the headers that an HTTP client adds. */
export class InProcessHeads {
  readonly #host: string;
  /** Frozen lines stay one object, so that the server parses them once. */
  readonly #known = new WeakMap<readonly string[], readonly string[]>();

  constructor(host: string) {
    this.#host = host;
  }

  of({ headers, body }: Dispatcher.DispatchOptions): readonly string[] {
    const own = headers as readonly string[];
    const content = body ?? null;
    if (content !== null || !Object.isFrozen(own)) return this.#made(own, content);
    let lines = this.#known.get(own);
    if (lines === undefined) {
      lines = Object.freeze(this.#made(own, content));
      this.#known.set(own, lines);
    }
    return lines;
  }

  #made(own: readonly string[], content: unknown): string[] {
    const lines = ["Host", this.#host, ...own];
    if (typeof content === "string" || Buffer.isBuffer(content))
      lines.push("Content-Length", String(Buffer.byteLength(content)));
    else if (content !== null && !lines.some((name, at) => at % 2 === 0 && name === "Content-Length"))
      lines.push("Transfer-Encoding", "chunked");
    return lines;
  }
}

/** Stands for a connection to a server of the same process, one request at a time. */
export class InProcessConnection implements HttpConnection {
  used = false;
  lends = false;
  readonly closed: Promise<void>;
  readonly #server: InProcessServer;
  readonly #heads: InProcessHeads;
  readonly #over = Promise.withResolvers<void>();
  #destroyed = false;
  #current: Received | undefined;

  constructor(server: InProcessServer, heads: InProcessHeads) {
    this.#server = server;
    this.#heads = heads;
    this.closed = this.#over.promise;
  }

  get usable(): boolean {
    return !this.#destroyed;
  }

  get lent(): boolean {
    return this.lends;
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const received = new Received(handler, this);
    this.#current = received;
    const { method, path, body } = request;
    const content = (body ?? null) as InProcessRequest["body"];
    received.send(this.#server, { method, path, headers: this.#heads.of(request), body: content });
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#current?.drop();
    this.#over.resolve();
  }
}

/** Handler that takes a complete response at once. */
export interface WholeHandler extends Dispatcher.DispatchHandler {
  onWhole(response: InProcessWhole): void;
}

/** A response for a handler of undici, which also controls it. */
class Received implements InProcessResponse, Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #connection: InProcessConnection;
  #call: InProcessCall | undefined;
  #isOver = false;
  readonly whole: ((response: InProcessWhole) => void) | undefined;
  paused = false;

  constructor(handler: Dispatcher.DispatchHandler, connection: InProcessConnection) {
    this.#handler = handler;
    this.#connection = connection;
    this.whole = "onWhole" in handler ? this.#whole : undefined;
  }

  readonly #whole = (response: InProcessWhole): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    (this.#handler as WholeHandler).onWhole(response);
  };

  send(server: InProcessServer, request: InProcessRequest): void {
    this.#handler.onRequestStart?.(this, undefined);
    if (!this.#isOver) this.#call = server.serve(request, this);
  }

  get aborted(): boolean {
    return this.#isOver;
  }

  get reason(): null {
    return null;
  }

  head(status: number, headers: ResponseHeaders): void {
    if (this.#isOver) return;
    this.#handler.onResponseStarted?.();
    this.#handler.onResponseStart?.(this, status, headers as Record<string, string | string[]>, undefined);
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#handler.onResponseData?.(this, this.#connection.lends ? chunk : Buffer.from(chunk));
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseEnd?.(this, {});
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseError?.(this, error);
    this.#connection.destroy();
  }

  pause(): void {
    this.paused = true;
    this.#call?.pause();
  }

  resume(): void {
    this.paused = false;
    this.#call?.resume();
  }

  abort(): void {
    this.drop();
  }

  /** Ends the request as a client that disconnects. */
  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call?.abort();
  }
}
