import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Express } from "express";
import { Connections } from "./connections.ts";
import { type CoreOptions, ServerCore } from "./core.ts";
import { loadExpress, route } from "./express.ts";
import { type Handlers, handlers } from "./handlers.ts";
import { clientAuthorities, createListener, type TlsOptions } from "./listener.ts";
import { METRICS_PATH, type Metrics } from "./metrics/metrics.ts";
import { SERVICES } from "./path.ts";

/** What a server serves, to whom, and how it listens. */
export interface ServerOptions extends CoreOptions {
  /** @default plain HTTP, for use behind something that does TLS: credentials would travel in the open */
  readonly tls?: TlsOptions;
  /** Prometheus metrics at `/metrics`, made by {@link metrics}. @default none */
  readonly metrics?: Metrics;
  /** How long `close` waits for requests under way, ms. @default 10000 */
  readonly closeTimeout?: number;
}

/** Where a server listens. */
export interface ListenOptions {
  /** 0 for any free one. */
  readonly port: number;
  /** @default "127.0.0.1", this machine only */
  readonly host?: string;
}

/** A running API server. */
export interface Listening {
  readonly port: number;
  /** `https://127.0.0.1:6444`, without a trailing slash. */
  readonly url: string;
}

/** An API server for virtual workspaces, and for the routes of {@link Server.app}. */
export class Server implements AsyncDisposable {
  readonly #core: ServerCore;
  readonly #options: ServerOptions;
  readonly #http: HttpServer;
  readonly #handlers: Handlers;
  readonly #connections: Connections;
  #app: Express | undefined;
  #started: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    const clientCa = clientAuthorities(options);
    this.#core = new ServerCore(options, { clientCa });
    this.#handlers = handlers(this.#core);
    this.#http = createListener(options.tls, clientCa);
    this.#connections = new Connections(this.#http, { tls: options.tls !== undefined });
    this.#http.on("tlsClientError", () => {
      this.#core.meters.tlsHandshakeErrors += 1;
    });
    this.#http.on("request", (req: IncomingMessage, res: ServerResponse) => this.#request(req, res));
    this.#http.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#connections.answer(req.socket, socket);
      this.#handlers.upgrade(req, socket, head);
    });
  }

  /**
   * An Express application for routes of one's own, beside `/services`. Requests for virtual workspaces, `/livez` and
   * `/readyz` never reach it. Its routes are not authenticated: that is up to them. What none of them answers, and what
   * one throws, is answered with a Status. Loaded when first asked for.
   */
  get app(): Express {
    this.#app ??= loadExpress()().disable("x-powered-by");
    return this.#app;
  }

  /** Streams and sources, counted: what a benchmark or an operator looks at. */
  get stats(): Readonly<Record<"rendered" | "delivered" | "sources", number>> {
    return this.#core.hub.stats;
  }

  /** Sets up the virtual workspaces without listening: connections come by {@link Server.accept}. @throws what a `setup` throws */
  start(): Promise<void> {
    this.#started ??= this.#core.start();
    return this.#started;
  }

  /** Serves a connection that somebody else has accepted, another process for one. It becomes this server's own. */
  accept(socket: Socket): void {
    this.#http.emit("connection", socket);
    if (this.#options.tls === undefined) socket.resume(); // TLS reads by itself
  }

  /**
   * Sets up the virtual workspaces, then listens. After `EADDRINUSE` it may be called again with another port.
   *
   * @throws what a `setup` throws, or the listener
   */
  async listen(options: ListenOptions): Promise<Listening> {
    const host = options.host ?? "127.0.0.1";
    await this.start();
    await new Promise<void>((resolve, reject) => {
      this.#http.once("error", reject);
      this.#http.listen({ port: options.port, host }, () => {
        this.#http.off("error", reject);
        // A connection that cannot be accepted, for want of file descriptors for one, is no reason to end.
        this.#http.on("error", (error) =>
          this.#core.log({ level: "error", message: "listener failed", error: String(error) }),
        );
        resolve();
      });
    });
    const { port } = this.#http.address() as AddressInfo;
    const shown = host.includes(":") ? `[${host}]` : host;
    return { port, url: `${this.#options.tls === undefined ? "http" : "https"}://${shown}:${port}` };
  }

  /**
   * Ends watches cleanly, lets requests under way finish, closes. New requests are 503 meanwhile. What is still open
   * after `closeTimeout` is cut.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#core.drain();
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    const impatient = setTimeout(() => this.#connections.cut(), this.#options.closeTimeout ?? 10_000);
    await Promise.all([closed, this.#connections.gone]);
    clearTimeout(impatient);
    await this.#core[Symbol.asyncDispose]();
  }

  /** The same as {@link Server.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #request(req: IncomingMessage, res: ServerResponse): void {
    this.#connections.answer(req.socket, res);
    const { url = "/" } = req;
    const answer = (): void => this.#handlers.request(req, res);
    if (this.#app === undefined || isOurs(url) || this.#isMetrics(url)) answer();
    else route(this.#app, { req, res, log: this.#core.log }, answer);
  }

  #isMetrics(url: string): boolean {
    return this.#options.metrics !== undefined && (url === METRICS_PATH || url.startsWith(`${METRICS_PATH}?`));
  }
}

/** Not an application's: views, probes, and targets that are no path, which are refused. */
function isOurs(url: string): boolean {
  return url.startsWith(`${SERVICES}/`) || !url.startsWith("/") || /^\/(livez|readyz)(?=[/?]|$)/.test(url);
}

/** An API server for `virtualWorkspaces`; it serves once `listen` has resolved. @throws Error on views that clash */
export function createServer(options: ServerOptions): Server {
  return new Server(options);
}
