import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import { isApiError, toApiError } from "@virtual-workspaces/apimachinery";
import type { Express } from "express";
import { type CoreOptions, ServerCore } from "./core.ts";
import { respondStatus } from "./encode/respond.ts";
import type { MountedRequest } from "./exchange.ts";
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
export interface VirtualWorkspacesMiddleware {
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
  /** Drains, ends open upgrades, such as terminals, and closes the views. Call it when requests under way have had their time. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of {@link virtualWorkspaces}. */
export interface MiddlewareOptions extends CoreOptions {
  /**
   * Path of the application below which the middleware is mounted: `/platform` for `app.use("/platform", api)`. Upgrades need
   * it, and so does a server of Node, since nothing strips the path there.
   * @default the root
   */
  readonly basePath?: string;
}

/**
 * Serves virtual workspaces within an Express (or connect, or plain Node) application. `/livez` and `/readyz` at the root
 * stay the application's. Mount it before anything that reads bodies: it answers 500 to a body that was read before. The
 * application also owns the server: set `maxHeaderSize: 1048576`, `keepAliveTimeout: 120000` and `maxHeadersCount = 0`, so
 * that it accepts the headers of Kubernetes clients and does not close connections under them. HTTP/2 requests are rejected
 * with 505: use `createServer` for HTTP/2.
 *
 * Security: authentication and authorization are the middleware's own; checks that the application makes before it do not
 * count.
 *
 * @throws Error on views that clash, or an invalid `basePath`
 *
 * @example
 * ```ts
 * import { createServer } from "node:https";
 * import { authenticated, defineResource, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
 * import { virtualWorkspaces } from "@virtual-workspaces/framework/server";
 * import { generatedTls } from "@virtual-workspaces/framework/tls";
 * import express from "express";
 *
 * const Book = defineResource({ group: "example.dev", version: "v1", kind: "Book", scope: "Namespaced" });
 * const books = defineVirtualWorkspace({
 *   name: "books",
 *   path: "/clusters/:cluster",
 *   authorize: authenticated(),
 *   resources: [Book.serve(Book.collection())],
 * });
 * const authentication = [staticTokens({ "a-long-random-token": { name: "ann" } })];
 * const api = virtualWorkspaces({ virtualWorkspaces: [books], authentication });
 * const app = express().use(api);
 * const { tls } = await generatedTls({ dir: "tls" });
 * createServer({ ...tls, maxHeaderSize: 1_048_576, keepAliveTimeout: 120_000 }, app).listen(8443);
 * ```
 * @see docs/how-to/express.md
 */
export function virtualWorkspaces({ basePath, ...options }: MiddlewareOptions): VirtualWorkspacesMiddleware {
  if (basePath !== undefined) checkBasePath(basePath);
  const core = new ServerCore(options);
  const handle: Handlers = handlers(core);
  /** Open connections of upgrades, which the application's server does not close. */
  const upgraded = new Set<Duplex>();
  /** Strips the base path, as Express does for a mounted middleware. @returns whether a view has the rest */
  const takes = (req: MountedRequest): boolean => {
    const { url = "/", baseUrl = "" } = req;
    const strips = basePath !== undefined && basePath !== baseUrl;
    if (strips && !url.startsWith(`${basePath}/`)) return false;
    const rest = strips ? url.slice(basePath.length) : url;
    if (!core.matcher.owns(rest)) return false;
    if (strips) Object.assign(req, { url: rest, baseUrl: basePath });
    return true;
  };
  const middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void => {
    if (!takes(req)) next();
    else if (req.httpVersionMajor === 1) handle.request(req, res);
    else respondStatus(res, problem(505, "the middleware supports HTTP/1.1 only; use createServer for HTTP/2"));
  };
  return Object.assign(middleware, {
    started: core.start(),
    drain: () => core.drain(),
    upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer): boolean => {
      if (!takes(req)) return false;
      upgraded.add(socket);
      socket.once("close", () => upgraded.delete(socket));
      handle.upgrade(req, socket, head);
      return true;
    },
    [Symbol.asyncDispose]: async () => {
      core.drain();
      for (const socket of upgraded) socket.destroy();
      await core[Symbol.asyncDispose]();
    },
  });
}

function checkBasePath(basePath: string): void {
  if (!/^(?:\/[A-Za-z0-9._~-]+)+$/.test(basePath))
    throw new Error(
      `invalid basePath ${JSON.stringify(basePath)}: use segments that each start with a slash, as in /platform`,
    );
}
