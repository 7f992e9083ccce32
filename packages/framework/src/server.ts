import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { timerDelay } from "@virtual-workspaces/transport";
import type { Express } from "express";
import { type CoreOptions, ServerCore } from "./core.ts";
import { respondStatus } from "./encode/respond.ts";
import { loadExpress, route } from "./express.ts";
import { Connections } from "./listener/connections.ts";
import { createListener } from "./listener/listener.ts";
import { LISTENER_LIMITS } from "./listener/listener-limits.ts";
import { isServed } from "./listener/malformed.ts";
import { pipe } from "./listener/pipe.ts";
import { ServingTls } from "./listener/tls/serving.ts";
import type { TlsOptions } from "./listener/tls/tls-options.ts";
import { METRICS_PATH, type Metrics } from "./observe/metrics/metrics.ts";
import { type Handlers, handlers } from "./pipeline.ts";
import { whole } from "./util/numbers.ts";

const HTTP_1: readonly string[] = ["http/1.1"];
const HTTP_2_OR_1: readonly string[] = ["h2", ...HTTP_1];

/** What a server serves, to whom, and how it listens. */
export interface ServerOptions extends CoreOptions {
  /** @default plain HTTP, for use behind something that does TLS: credentials would travel in the open */
  readonly tls?: TlsOptions;
  /**
   * Connections at a time; those beyond are closed as they come. Each that does nothing is closed after two minutes, and
   * keeps 10 KiB until then, 50 over TLS. `Infinity`: as many as the process may have file descriptors. @default 50000
   */
  readonly maxConnections?: number;
  /**
   * How long a client may take to send the head of a request, from when it connects or begins, ms, and up to 4 s more; then
   * 408. `Infinity`: as long as it likes. @default 32000
   */
  readonly headersTimeout?: number;
  /** Prometheus metrics at `/metrics`, made by {@link metrics}. @default none */
  readonly metrics?: Metrics;
  /**
   * The server that this one is a part of, for requests that a server sends itself by {@link Server.connect}. They are in that
   * one's audit log and metrics, as requests of their own, and this one is closed with that one, behind its views. `audit`
   * and `metrics` are that one's alone. @default it stands alone
   */
  readonly within?: Server;
  /** How long `close` waits for requests under way, ms; 0: for none. `Infinity`: for as long as they take. @default 10000 */
  readonly closeTimeout?: number;
  /**
   * How long `close` goes on serving, ms, while `/readyz` fails already (Kubernetes' `--shutdown-delay-duration`): so that
   * whoever balances by it sends no more before requests are turned away. @default 0
   */
  readonly closeDelay?: number;
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

/** Requests on one connection that wait for their answers: Node reads on as long as nothing is answered. */
const MOST_PIPELINED = 100;

/** An API server for virtual workspaces, and for the routes of {@link Server.app}. */
export class Server implements AsyncDisposable {
  readonly #core: ServerCore;
  readonly #options: ServerOptions;
  readonly #tls: ServingTls | undefined;
  readonly #http: HttpServer;
  readonly #handlers: Handlers;
  readonly #connections: Connections;
  readonly #closeTimeout: number;
  readonly #closeDelay: number;
  readonly #maxConnections: number;
  /** Whether Node looks after connections that it has not accepted. */
  #looksAfter = false;
  /** What TLS clients may choose from. */
  #protocols = HTTP_1;
  #app: Express | undefined;
  #started: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    const { tls, authentication } = options;
    const authorities = {
      pem: authentication.flatMap(({ clientCa }) => clientCa ?? []),
      files: authentication.flatMap(({ clientCaFile }) => clientCaFile ?? []),
    };
    this.#tls = tls === undefined ? undefined : new ServingTls(tls, authorities);
    const { within, ...own } = options;
    if (within !== undefined && (options.audit ?? options.metrics) !== undefined)
      throw new Error("within: audit and metrics are of the server that this one is a part of: give them there");
    this.#core = new ServerCore(
      { ...own, ...(within && { within: within.#core }) },
      { clientCa: this.#tls?.clientCa ?? [] },
    );
    if (within !== undefined) within.#core.parts.push({ core: this.#core, close: () => this.close() });
    this.#handlers = handlers(this.#core);
    this.#http = createListener(this.#tls && { serving: this.#tls, protocols: () => this.#protocols });
    this.#maxConnections = whole("maxConnections", options.maxConnections ?? 50_000, 1);
    if (this.#maxConnections !== Number.POSITIVE_INFINITY) this.#http.maxConnections = this.#maxConnections;
    const { headersTimeout = LISTENER_LIMITS.headersTimeout as number } = options;
    this.#http.headersTimeout =
      whole("headersTimeout", headersTimeout, 1) === Number.POSITIVE_INFINITY ? 0 : headersTimeout;
    this.#closeTimeout = timerDelay(whole("closeTimeout", options.closeTimeout ?? 10_000, 0));
    this.#closeDelay = timerDelay(whole("closeDelay", options.closeDelay ?? 0, 0));
    this.#connections = new Connections(this.#http, { tls: tls !== undefined });
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
   * An Express application for routes of one's own. Requests for virtual workspaces, below `/services` or at prefixes of
   * their own, `/livez` and `/readyz` never reach it; before a view at `/` it is asked first. Its routes are not
   * authenticated: that is up to them. What none of them answers, and what one throws, is answered with a Status. Loaded when first asked for. Express does not work over HTTP/2: from then on
   * the server speaks HTTP/1.1 only, and clients that have come by HTTP/2 are told to come again. Ask for it before
   * `listen`.
   */
  get app(): Express {
    if (this.#app === undefined) {
      this.#app = loadExpress()().disable("x-powered-by");
      this.#protocols = HTTP_1;
      this.#connections.closeSessions();
    }
    return this.#app;
  }

  /** Streams, sources and requests, counted: what a benchmark or an operator looks at. */
  get stats(): Readonly<Record<"rendered" | "delivered" | "sources" | "inFlight" | "queued" | "longRunning", number>> {
    return { ...this.#core.hub.stats, ...this.#core.fairness.stats };
  }

  /** Sets up the virtual workspaces without listening: connections come by {@link Server.accept}. @throws what a `setup` throws */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    await Promise.all([this.#core.start(), this.#offerHttp2()]);
    if (this.#closed === undefined) this.#tls?.follow(this.#http as HttpsServer, this.#core.log);
  }

  /** Loaded only where it is spoken: it would add to the time that a server takes to start. */
  async #offerHttp2(): Promise<void> {
    if (this.#tls === undefined || this.#app !== undefined) return;
    const { serveHttp2 } = await import("./listener/http2/http2-listener.ts");
    serveHttp2(this.#http, this.#connections, this.#request);
    if (this.#app === undefined) this.#protocols = HTTP_2_OR_1;
  }

  /** Serves a connection that somebody else has accepted, another process for one. It becomes this server's own. */
  accept(socket: Socket): void {
    if (this.#connections.size >= this.#maxConnections || this.#core.draining) {
      socket.destroy();
      return;
    }
    // What Node does with those that it accepts itself; it looks after heads that do not end once it is told to listen.
    this.#looksAfter ||= this.#http.listening || this.#http.emit("listening");
    socket.setNoDelay(LISTENER_LIMITS.noDelay).setKeepAlive(true, LISTENER_LIMITS.keepAliveInitialDelay);
    this.#http.emit("connection", socket);
    if (this.#options.tls === undefined) socket.resume(); // TLS reads by itself
  }

  /**
   * A connection to this server that leaves the process nowhere, for `dial` of an upstream: its other end is served as any
   * client is, who still has to say who they are. It is in the open: a server with `tls` has none.
   *
   * @throws Error with `tls`
   */
  connect(): Duplex {
    if (this.#options.tls !== undefined) throw new Error("connect: a server with tls takes no connections without");
    const [near, far] = pipe();
    this.accept(far as Socket);
    return near;
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
   * How many connections there are on which nothing was ever asked, TLS handshakes among them, and how many requests whose turn has
   * not come: {@link close} ends those at once, and refuses these. Whoever knows that no more will come can wait until there are none.
   */
  get waiting(): number {
    return this.#connections.unasked + this.#core.fairness.stats.queued;
  }

  /**
   * After `closeDelay` ends watches cleanly, lets requests under way finish, closes. New requests are 503 meanwhile. What
   * is still open after `closeTimeout` is cut.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#core.leave();
    if (this.#closeDelay > 0) await delay(this.#closeDelay);
    this.#tls?.[Symbol.dispose]();
    this.#core.drain();
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    const impatient = setTimeout(() => this.#connections.cut(), this.#closeTimeout);
    await Promise.all([closed, this.#connections.gone]);
    clearTimeout(impatient);
    await this.#core[Symbol.asyncDispose]();
  }

  /** The same as {@link Server.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #request = (req: IncomingMessage, res: ServerResponse): void => {
    const isHttp1 = req.httpVersionMajor === 1; // the others are known by their streams
    if (isHttp1 && !isServed(req, res)) return;
    if (isHttp1 && this.#connections.answer(req.socket, res) > MOST_PIPELINED) {
      res.shouldKeepAlive = false;
      respondStatus(
        res,
        ApiError.tooManyRequests("too many requests wait on this connection; read their answers first", 1),
      );
      return;
    }
    const { url = "/" } = req;
    const answer = (): void => this.#handlers.request(req, res);
    // What comes by HTTP/2 while its connection is being closed for the application's sake never was its business.
    if (this.#app === undefined || this.#isOurs(url) || this.#isMetrics(url) || !isHttp1) answer();
    else route(this.#app, { req, res, log: this.#core.log }, answer);
  };

  #isMetrics(url: string): boolean {
    return this.#options.metrics !== undefined && (url === METRICS_PATH || url.startsWith(`${METRICS_PATH}?`));
  }

  /** Not an application's: views, probes, and targets that are no path, which are refused. */
  #isOurs(url: string): boolean {
    return this.#core.matcher.owns(url) || !url.startsWith("/") || /^\/(livez|readyz)(?=[/?]|$)/.test(url);
  }
}

/**
 * An API server for `virtualWorkspaces`; it serves once `listen` has resolved.
 *
 * @throws Error on views that clash
 *
 * @example
 * ```ts
 * import { authenticated, createServer, defineResource, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
 *
 * const Book = defineResource({ group: "example.dev", version: "v1", kind: "Book", scope: "Namespaced" });
 * const books = defineVirtualWorkspace({
 *   name: "books",
 *   path: "/clusters/:cluster",
 *   authorize: authenticated(),
 *   resources: [Book.serve(Book.collection())],
 * });
 * const server = createServer({
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
