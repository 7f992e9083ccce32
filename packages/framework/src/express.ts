import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import { isApiError, toApiError } from "@virtual-workspaces/apimachinery";
import type { Express } from "express";
import { type CoreOptions, ServerCore } from "./core.ts";
import { respondStatus } from "./encode/respond.ts";
import { problem } from "./listener/malformed.ts";
import type { Log } from "./observe/log/log.ts";
import { type Handlers, handlers } from "./pipeline.ts";

/**
 * Loads Express on first use: it would double the time that a server takes to start.
 *
 * @throws Error when it is not installed
 */
export function loadExpress(): () => Express {
  try {
    return createRequire(import.meta.url)("express") as () => Express;
  } catch (cause) {
    throw new Error("server.app is an Express application: install the package express@5 beside this one", { cause });
  }
}

type Application = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

interface Routed {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly log: Log;
}

/**
 * Routes a request through an application, and calls `next` when no route answers it. An exception of a route becomes a
 * Status.
 */
export function route(app: Express, { req, res, log }: Routed, next: () => void): void {
  // The types of Express accept only its own requests.
  (app as unknown as Application)(req, res, (error) => {
    if (error === undefined || error === null) next();
    else answerFailure(res, error, log);
  });
}

/** Errors of Express and its parsers carry a code when the client caused them. */
function answerFailure(res: ServerResponse, error: unknown, log: Log): void {
  const { status, message = "" } = error as { readonly status?: unknown; readonly message?: string };
  const blamesClient = typeof status === "number" && status >= 400 && status < 500;
  const answer = blamesClient && !isApiError(error) ? problem(status, message) : toApiError(error);
  if (!blamesClient && !isApiError(error)) log({ level: "error", message: "route failed", error: String(error) });
  if (res.headersSent) res.destroy();
  else respondStatus(res, answer);
}

/** Virtual workspaces as a middleware of an existing application. */
export interface VirtualWorkspacesMiddleware extends AsyncDisposable {
  /**
   * For `app.use(...)`: answers every request below `/services/` and the prefixes of views, and calls `next` for the rest.
   */
  (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void;
  /** For the server's `upgrade` event: handles the same requests. @returns whether it took the request */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Resolves when every `setup` has run. @throws what one throws */
  readonly started: Promise<void>;
  /** Ends all watches cleanly and rejects new requests with 503. Call it before the server closes. */
  drain(): void;
}

/**
 * Serves virtual workspaces within an Express (or connect, or plain Node) application. `/livez` and `/readyz` at the root
 * stay the application's. Use it at the root, and before anything that reads bodies if views have raw handlers. The
 * application also owns the server: set `maxHeaderSize: 1048576`, `keepAliveTimeout: 120000` and `maxHeadersCount = 0`, so
 * that it accepts the headers of Kubernetes clients and does not close connections under them. HTTP/2 requests are rejected
 * with 505: use `createServer` for HTTP/2.
 *
 * Security: authentication and authorization are the middleware's own; checks that the application makes before it do not
 * count.
 *
 * @throws Error on views that clash
 */
export function virtualWorkspaces(options: CoreOptions): VirtualWorkspacesMiddleware {
  const core = new ServerCore(options);
  const handle: Handlers = handlers(core);
  const isOurs = ({ url = "/" }: IncomingMessage): boolean => core.matcher.owns(url);
  const middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void => {
    if (!isOurs(req)) next();
    else if (req.httpVersionMajor === 1) handle.request(req, res);
    else respondStatus(res, problem(505, "the middleware supports HTTP/1.1 only; use createServer for HTTP/2"));
  };
  return Object.assign(middleware, {
    started: core.start(),
    drain: () => core.drain(),
    upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer): boolean => {
      if (!isOurs(req)) return false;
      handle.upgrade(req, socket, head);
      return true;
    },
    [Symbol.asyncDispose]: async () => {
      core.drain();
      await core[Symbol.asyncDispose]();
    },
  });
}
