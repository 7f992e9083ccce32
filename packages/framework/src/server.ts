import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Express } from "express";
import { type CoreOptions, ServerCore } from "./core.ts";
import { loadExpress } from "./express.ts";
import { type Handlers, handlers } from "./handlers.ts";
import { LISTENER_LIMITS, MAX_HEADERS_COUNT } from "./limits.ts";
import { refuseMalformed } from "./malformed.ts";
import { SERVICES } from "./path.ts";

/** Certificate and key of a TLS server, PEM. */
export interface TlsOptions {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** PEM of the authorities named to clients when certificates are asked for. Verification is the authenticator's. */
  readonly clientCa?: string | Buffer;
}

export interface ServerOptions extends CoreOptions {
  /** @default plain HTTP, for use behind something that does TLS: credentials would travel in the open */
  readonly tls?: TlsOptions;
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
  #app: Express | undefined;
  #started: Promise<void> | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#core = new ServerCore(options);
    this.#handlers = handlers(this.#core);
    this.#http = listener(options);
    this.#http.maxHeadersCount = MAX_HEADERS_COUNT;
    this.#http.on("request", (req: IncomingMessage, res: ServerResponse) => this.#request(req, res));
    this.#http.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#handlers.upgrade(req, socket, head),
    );
    refuseMalformed(this.#http);
  }

  /**
   * An Express application for routes of one's own, beside `/services`. Requests for virtual workspaces, `/livez` and
   * `/readyz` never reach it. Its routes are not authenticated: that is up to them. Loaded when first asked for.
   */
  get app(): Express {
    this.#app ??= loadExpress()();
    return this.#app;
  }

  /** Streams and sources, counted: what a benchmark or an operator looks at. */
  get stats(): Readonly<Record<"rendered" | "delivered" | "sources", number>> {
    return this.#core.hub.stats;
  }

  /**
   * Sets up the virtual workspaces, then listens. After `EADDRINUSE` it may be called again with another port.
   *
   * @throws what a `setup` throws, or the listener
   */
  async listen(options: ListenOptions): Promise<Listening> {
    const host = options.host ?? "127.0.0.1";
    this.#started ??= this.#core.start();
    await this.#started;
    await new Promise<void>((resolve, reject) => {
      this.#http.once("error", reject);
      this.#http.listen({ port: options.port, host }, () => {
        this.#http.off("error", reject);
        resolve();
      });
    });
    const { port } = this.#http.address() as AddressInfo;
    const shown = host.includes(":") ? `[${host}]` : host;
    return { port, url: `${this.#options.tls === undefined ? "http" : "https"}://${shown}:${port}` };
  }

  /** Ends watches cleanly, lets requests under way finish, closes. New requests are 503 meanwhile. */
  async close(): Promise<void> {
    this.#core.drain();
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    // A connection becomes idle only after its last answer went out.
    const idle = setInterval(() => this.#http.closeIdleConnections(), 50);
    const impatient = setTimeout(() => this.#http.closeAllConnections(), this.#options.closeTimeout ?? 10_000);
    await closed;
    clearInterval(idle);
    clearTimeout(impatient);
    await this.#core[Symbol.asyncDispose]();
  }

  /** The same as {@link Server.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #request(req: IncomingMessage, res: ServerResponse): void {
    const url = req.url ?? "/";
    if (this.#app === undefined || url.startsWith(`${SERVICES}/`) || /^\/(livez|readyz)(?=[/?]|$)/.test(url))
      this.#handlers.request(req, res);
    else this.#app(req, res);
  }
}

/** An API server for `virtualWorkspaces`; it serves once `listen` has resolved. @throws Error on views that clash */
export function createServer(options: ServerOptions): Server {
  return new Server(options);
}

function listener({ tls, authentication }: ServerOptions): HttpServer {
  if (tls === undefined) return createHttpServer(LISTENER_LIMITS);
  const asks = authentication.some((authenticator) => authenticator.wantsClientCertificate === true);
  const { cert, key, clientCa } = tls;
  const certificates = asks
    ? { requestCert: true, rejectUnauthorized: false, ...(clientCa === undefined ? {} : { ca: clientCa }) }
    : {};
  return createHttpsServer({ ...LISTENER_LIMITS, cert, key, ...certificates });
}
