import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { type InProcessServer, timerDelay } from "@virtual-workspaces/transport";
import type { Express } from "express";
import { takesTokens } from "./authn/bearer-tokens.ts";
import { type CoreOptions, ServerCore } from "./core.ts";
import { respondStatus } from "./encode/respond.ts";
import { loadExpress, route } from "./express.ts";
import type { Pages } from "./hooks/pages.ts";
import { Connections } from "./listener/connections.ts";
import { InProcessRequests } from "./listener/in-process.ts";
import { createListener, type Listening, type ListenOptions } from "./listener/listener.ts";
import { BACKLOG, LISTENER_LIMITS } from "./listener/listener-limits.ts";
import { isServed } from "./listener/malformed.ts";
import { pipe } from "./listener/pipe.ts";
import { ServingTls } from "./listener/tls/serving.ts";
import type { TlsOptions } from "./listener/tls/tls-options.ts";
import type { Component } from "./observe/component-pages.ts";
import type { Metrics } from "./observe/metrics/metrics.ts";
import { type Handlers, handlers } from "./pipeline.ts";
import type { DispatchedRequest } from "./request/dispatched.ts";
import { checkPages, isAt } from "./stages/pages.ts";
import { whole } from "./util/numbers.ts";
import type { MetricFamily } from "./virtual-workspace.ts";

const HTTP_1: readonly string[] = ["http/1.1"];
const HTTP_2_OR_1: readonly string[] = ["h2", ...HTTP_1];

/** Options of a server: what it serves, to whom, and how it listens. */
export interface ServerOptions extends CoreOptions {
  /**
   * TLS options, or `false` for plain HTTP behind a proxy that terminates TLS. Security: without them, credentials travel
   * unencrypted, and kubectl sends no bearer tokens. A server with authenticators for tokens then logs a warning when it
   * listens; `false` leaves it out.
   *
   * @default plain HTTP
   */
  readonly tls?: TlsOptions | false;
  /**
   * Largest number of connections; the server closes others as they arrive. It closes an idle one after two minutes; each
   * holds 10 KiB until then, 50 KiB over TLS. `Infinity`: up to the process' file descriptors.
   * @default 50000
   */
  readonly maxConnections?: number;
  /**
   * Time a client gets to send the head of a request, from its connection or its first byte, ms, plus up to 4 s; then 408.
   * `Infinity`: no limit.
   * @default 32000
   */
  readonly headersTimeout?: number;
  /** Prometheus metrics at `/metrics`, made by {@link metrics}. @default none */
  readonly metrics?: Metrics;
  /** Pages for people, such as a console, answered before authentication. @default none */
  readonly pages?: Pages;
  /** Pages about the program at `/statusz` and `/flagz`, as in Kubernetes since 1.36. @default none */
  readonly component?: Component;
  /**
   * Server that contains this one, for requests that a server sends itself by {@link Server.connect}. The outer server audits
   * and counts them as requests of their own, and closes this server after its views. Only the outer one has `audit`,
   * `metrics` and `component`.
   * @default a server of its own
   */
  readonly within?: Server;
  /** Time `close` waits for requests under way, ms; 0: none. `Infinity`: no limit. @default 10000 */
  readonly closeTimeout?: number;
  /**
   * Time `close` keeps serving, ms, while `/readyz` already fails (Kubernetes' `--shutdown-delay-duration`), so that load
   * balancers stop sending before requests are rejected.
   * @default 0
   */
  readonly closeDelay?: number;
}

/** Largest number of pipelined requests on one connection: Node keeps reading while no request is answered. */
const MOST_PIPELINED = 100;

const PLAIN_TOKENS =
  "bearer tokens over plain HTTP: kubectl never sends them, and the network can read them: set tls, such as (await generatedTls({ dir })).tls, or tls: false behind a proxy that terminates TLS";

/** An API server for virtual workspaces, and for the routes of {@link Server.app}. */
export class Server implements AsyncDisposable {
  readonly #core: ServerCore;
  readonly #options: ServerOptions;
  readonly #tls: ServingTls | undefined;
  readonly #http: HttpServer;
  readonly #handlers: Handlers;
  readonly #connections: Connections;
  readonly #within: InProcessRequests;
  readonly #closeTimeout: number;
  readonly #closeDelay: number;
  readonly #maxConnections: number;
  /** Whether Node watches connections that it has not accepted itself. */
  #looksAfter = false;
  /** Protocols offered to TLS clients. */
  #protocols = HTTP_1;
  #app: Express | undefined;
  #started: Promise<void> | undefined;
  #drained: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    const { tls = false, authentication } = options;
    const authorities = {
      pem: authentication.flatMap(({ clientCa }) => clientCa ?? []),
      files: authentication.flatMap(({ clientCaFile }) => clientCaFile ?? []),
    };
    this.#tls = tls === false ? undefined : new ServingTls(tls, authorities);
    const { within, ...own } = options;
    if (within !== undefined && (options.audit ?? options.metrics ?? options.component) !== undefined)
      throw new Error(
        "invalid options audit, metrics and component of a server with within: set them on the outer server",
      );
    if (options.pages !== undefined) checkPages(options.pages, options.virtualWorkspaces);
    this.#core = new ServerCore(
      { ...own, ...(within && { within: within.#core }) },
      { clientCa: this.#tls?.clientCa ?? [] },
    );
    if (within !== undefined) within.#core.parts.push({ core: this.#core, close: () => this.close() });
    this.#handlers = handlers(this.#core);
    this.#within = new InProcessRequests(this.#handlers.request);
    this.#http = createListener(this.#tls && { serving: this.#tls, protocols: () => this.#protocols });
    this.#maxConnections = whole("maxConnections", options.maxConnections ?? 50_000, 1);
    if (this.#maxConnections !== Number.POSITIVE_INFINITY) this.#http.maxConnections = this.#maxConnections;
    const { headersTimeout = LISTENER_LIMITS.headersTimeout as number } = options;
    this.#http.headersTimeout =
      whole("headersTimeout", headersTimeout, 1) === Number.POSITIVE_INFINITY ? 0 : headersTimeout;
    this.#closeTimeout = timerDelay(whole("closeTimeout", options.closeTimeout ?? 10_000, 0));
    this.#closeDelay = timerDelay(whole("closeDelay", options.closeDelay ?? 0, 0));
    this.#connections = new Connections(this.#http, { tls: tls !== false });
    this.#http.on("request", this.#request);
    this.#http.on("checkExpectation", (req: IncomingMessage, res: ServerResponse) => {
      this.#connections.answer(req.socket, res);
    });
    this.#http.on("tlsClientError", () => {
      this.#core.meters.tlsHandshakeErrors += 1;
    });
    this.#http.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#connections.answer(req.socket, socket as Socket);
      this.#handlers.upgrade(req, socket, head);
    });
  }

  /**
   * An Express application for additional routes. It never gets requests for virtual workspaces (below `/services` or their
   * own prefixes), `/livez` and `/readyz`; it comes before a view at `/`. A request that no route answers, and an exception
   * of a route, are answered with a Status. Loaded on first use from the package `express`, which must be installed beside this one: ask
   * for it before `listen`. Express does not support HTTP/2:
   * from then on the server speaks HTTP/1.1 only, and HTTP/2 clients reconnect.
   *
   * Security: the server does not authenticate its routes; they must do that themselves.
   *
   * @throws Error without the package `express`
   */
  get app(): Express {
    if (this.#app === undefined) {
      this.#app = loadExpress()().disable("x-powered-by");
      this.#protocols = HTTP_1;
      this.#connections.closeSessions();
    }
    return this.#app;
  }

  /** Counts of streams, sources and requests, for benchmarks and operators. */
  get stats(): Readonly<Record<"rendered" | "delivered" | "sources" | "inFlight" | "queued" | "longRunning", number>> {
    return { ...this.#core.hub.stats, ...this.#core.fairness.stats };
  }

  /**
   * Sets up the virtual workspaces without listening: connections come by {@link Server.accept}.
   * @throws what a `setup` throws
   */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    await Promise.all([this.#core.start(), this.#offerHttp2()]);
    if (this.#drained === undefined) this.#tls?.follow(this.#http as HttpsServer, this.#core.log);
  }

  /** Loads HTTP/2 only where it is offered: it would slow down the start of every server. */
  async #offerHttp2(): Promise<void> {
    if (this.#tls === undefined || this.#app !== undefined) return;
    const { serveHttp2 } = await import("./listener/http2/http2-listener.ts");
    serveHttp2(this.#http, this.#connections, this.#request);
    if (this.#app === undefined) this.#protocols = HTTP_2_OR_1;
  }

  /** Serves a connection accepted elsewhere, by another process for example. The server then owns the connection. */
  accept(socket: Socket): void {
    if (this.#connections.size >= this.#maxConnections || this.#core.draining) {
      socket.destroy();
      return;
    }
    // Node does this for connections that it accepts; it enforces header timeouts from the `listening` event on.
    this.#looksAfter ||= this.#http.listening || this.#http.emit("listening");
    socket.setNoDelay(LISTENER_LIMITS.noDelay).setKeepAlive(true, LISTENER_LIMITS.keepAliveInitialDelay);
    this.#http.emit("connection", socket);
    if (this.#tls === undefined) socket.resume(); // TLS reads by itself
  }

  /**
   * Returns an in-process connection to this server, for `dial` of an upstream. The server treats its other end as any
   * client, which must authenticate. The connection is plain text: a server with `tls` offers none.
   *
   * @throws Error with `tls`
   */
  connect(): Duplex {
    this.#checkPlain();
    const [near, far] = pipe();
    this.accept(far as Socket);
    return near;
  }

  /**
   * This server for `inProcess` of an upstream: it gets requests as objects, without HTTP, and treats their sender as any client,
   * which must authenticate. Upgrades come by {@link connect}.
   *
   * @param ready resolves when requests may arrive
   * @throws Error with `tls`
   */
  inProcess(ready: Promise<void>): InProcessServer {
    this.#checkPlain();
    return { ready, serve: this.#within.serve };
  }

  /**
   * Serves a request that another server of this process has authorized, without HTTP between the two: with the pipeline of this
   * server, which authorizes, limits, counts and audits it as its own. The response is complete when it resolves. It takes no
   * upgrades; those come by {@link connect}.
   *
   * Security: the caller is not authenticated here. `request` alone states the user, and can state any.
   *
   * @throws the reason of the request's signal, if it aborts before there is a response
   */
  dispatch(req: IncomingMessage, res: ServerResponse, request: DispatchedRequest): Promise<void> {
    return this.#handlers.dispatch(req, res, request);
  }

  #checkPlain(): void {
    if (this.#tls !== undefined)
      throw new Error("cannot connect within the process to a server with tls: leave out tls, or connect over TLS");
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
      this.#http.listen({ port: options.port, host, backlog: BACKLOG }, () => {
        this.#http.off("error", reject);
        // The server goes on when it cannot accept a connection, for want of file descriptors for example.
        this.#http.on("error", (error) =>
          this.#core.log({ level: "error", message: "listener failed", error: String(error) }),
        );
        resolve();
      });
    });
    const { port } = this.#http.address() as AddressInfo;
    const shown = host.includes(":") ? `[${host}]` : host;
    const url = `${this.#tls === undefined ? "http" : "https"}://${shown}:${port}`;
    if (this.#options.tls === undefined && this.#options.authentication.some(takesTokens))
      this.#core.log({ level: "warn", message: PLAIN_TOKENS, url });
    return { port, url };
  }

  /**
   * Number of connections without a request so far, TLS handshakes included, plus queued requests. {@link close} ends the
   * former at once and rejects the latter. A caller that knows that no more will arrive can wait until it is 0.
   */
  get waiting(): number {
    return this.#connections.unasked + this.#core.fairness.stats.queued;
  }

  /**
   * Counts a failed authentication at another process behind the same address, from `authenticationFailures.onFailure` there.
   *
   * @param network as that process reported it
   */
  countAuthenticationFailure(network: string): void {
    this.#core.authenticationFailures.failedElsewhere(network);
  }

  /** Returns the metrics of this process, without `sum`. Empty without the option `metrics`. */
  async families(): Promise<readonly MetricFamily[]> {
    return (await this.#core.metrics?.families()) ?? [];
  }

  /**
   * Shuts down gracefully: after `closeDelay` it ends watches cleanly, lets requests under way finish, and closes. New
   * requests are 503 meanwhile. It cuts what is still open after `closeTimeout`.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /**
   * Does the first part of {@link close}: resolves when no request is under way, and leaves the views running, for others
   * whose end needs them.
   */
  drain(): Promise<void> {
    this.#drained ??= this.#drain();
    return this.#drained;
  }

  async #close(): Promise<void> {
    await this.drain();
    await this.#core[Symbol.asyncDispose]();
  }

  async #drain(): Promise<void> {
    this.#core.leave();
    if (this.#closeDelay > 0) await delay(this.#closeDelay);
    this.#tls?.[Symbol.dispose]();
    this.#core.drain();
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    const impatient = setTimeout(() => {
      this.#connections.cut();
      this.#within.cut();
    }, this.#closeTimeout);
    await Promise.all([closed, this.#connections.gone, this.#within.end()]);
    clearTimeout(impatient);
  }

  /** Same as {@link Server.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #request = (req: IncomingMessage, res: ServerResponse): void => {
    const isHttp1 = req.httpVersionMajor === 1; // HTTP/2 requests are counted by their streams
    if (isHttp1 && !isServed(req, res)) return;
    if (isHttp1 && this.#connections.answer(req.socket, res) > MOST_PIPELINED) {
      res.shouldKeepAlive = false;
      respondStatus(
        res,
        ApiError.tooManyRequests("too many requests wait on this connection: read their responses first", 1),
      );
      return;
    }
    const { url = "/" } = req;
    const answer = (): void => this.#handlers.request(req, res);
    // Late HTTP/2 requests, on a connection that is closed for the application's sake, never reach the application.
    if (this.#app === undefined || this.#isOurs(url) || !isHttp1) answer();
    else route(this.#app, { req, res, log: this.#core.log }, answer);
  };

  /** Whether a request belongs to the server: views, probes, and targets that are no path, which it rejects. */
  #isOurs(url: string): boolean {
    const [path = ""] = url.split("?", 1);
    const { pages, ownViews } = this.#core;
    if (ownViews.has(path) || (pages !== undefined && isAt(pages, path))) return true;
    return this.#core.matcher.owns(url) || !url.startsWith("/") || /^\/(livez|readyz)(?=[/?]|$)/.test(url);
  }
}

/**
 * Creates an API server for `virtualWorkspaces`; it serves once `listen` has resolved.
 *
 * @throws Error on views that clash
 *
 * @example
 * ```ts
 * import { authenticated, createServer, defineResource, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
 * import { generatedTls } from "@virtual-workspaces/framework/tls";
 *
 * const Book = defineResource({ group: "example.dev", version: "v1", kind: "Book", scope: "Namespaced" });
 * const books = defineVirtualWorkspace({
 *   name: "books",
 *   path: "/clusters/:cluster",
 *   authorize: authenticated(),
 *   resources: [Book.serve(Book.collection())],
 * });
 * const { tls } = await generatedTls({ dir: "tls" });
 * const server = createServer({
 *   tls,
 *   virtualWorkspaces: [books],
 *   authentication: [staticTokens({ "a-long-random-token": { name: "ann" } })],
 * });
 * const { url } = await server.listen({ port: 6444 });
 * console.log(`${url}/services/books/clusters/root`);
 * ```
 * @see docs/how-to/operating.md
 */
export function createServer(options: ServerOptions): Server {
  return new Server(options);
}
