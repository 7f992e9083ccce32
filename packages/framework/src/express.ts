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

/** Express is loaded only where it is used: it would double the time that a server takes to start. */
export function loadExpress(): () => Express {
  return createRequire(import.meta.url)("express") as () => Express;
}

type Application = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

interface Routed {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly log: Log;
}

/** Hands a request to an application: `next` gets it when no route answers it. What a route throws becomes a Status. */
export function route(app: Express, { req, res, log }: Routed, next: () => void): void {
  // Its types have it take only requests of Express' own.
  (app as unknown as Application)(req, res, (error) => {
    if (error === undefined || error === null) next();
    else answerFailure(res, error, log);
  });
}

/** Errors of Express and its parsers carry a code when it is the client who is to blame. */
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
  /** For `app.use(...)`: answers everything below `/services/` and below prefixes of views, leaves the rest to `next`. */
  (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void;
  /** For the server's `upgrade` event: takes the same requests. @returns whether it took the request */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Resolves when every `setup` has run. @throws what one throws */
  readonly started: Promise<void>;
  /** Ends all watches cleanly and turns new requests away with 503: to be called before the server closes. */
  drain(): void;
}

/**
 * Serves virtual workspaces within an Express (or connect, or plain Node) application. Authentication and
 * authorization are its own: what the application does before it does not count. The root's `/livez` and `/readyz` stay
 * the application's. Use it at the root, and before anything that reads bodies if views have raw handlers. The server
 * is the application's too: with `maxHeaderSize: 1048576`, `keepAliveTimeout: 120000` and `maxHeadersCount = 0` it takes
 * the headers that Kubernetes clients may send, and does not close connections under them. Over HTTP/2 requests are
 * refused with 505: that is for `createServer`.
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
    else respondStatus(res, problem(505, "the middleware takes HTTP/1.1; let createServer listen for HTTP/2"));
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
