import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { IdentityHeaders } from "./authn/headers.ts";
import type { ServerCore } from "./core.ts";
import { isAggregated } from "./discovery/negotiation.ts";
import { respondStatus } from "./encode/respond.ts";
import { type AuthenticatedExchange, type AuthorizedExchange, Exchange, type Stage } from "./exchange.ts";
import type { PageCredentials } from "./hooks/pages.ts";
import { boundRest, ignore, isPlain, responseOn } from "./listener/malformed.ts";
import type { ObservedRequest } from "./observe/observer.ts";
import type { DispatchedRequest } from "./request/dispatched.ts";
import { serve } from "./serve/serve.ts";
import { accept, deadline, health, info, match, pages, startDeadline } from "./stages/accept.ts";
import { audit, authenticate, bounded, impersonate } from "./stages/authenticate.ts";
import { authorize, fairness, hops, intercept, locate, placed, ready } from "./stages/authorize.ts";
import { endWithSession, preparedFor } from "./stages/pages.ts";

/** Stages in order. Each relies on what earlier stages have established; the compiler checks that. */
class Pipeline<Known extends Exchange> {
  readonly stages: readonly Stage<Known>[];

  constructor(stages: readonly Stage<Known>[]) {
    this.stages = stages;
  }

  add(...stages: readonly Stage<Known>[]): Pipeline<Known> {
    return new Pipeline([...this.stages, ...stages]);
  }

  /** Adds a stage that establishes more about each request. */
  establish<More extends Known>(stage: Stage<Known>): Pipeline<More> {
    return new Pipeline<More>([...this.stages, stage]);
  }
}

/**
 * Stages of every request, in order. Before `authenticate` the server answers only bad URLs, `/livez`, `/readyz` and its pages.
 * Security: it rejects a path that no view serves after authentication, so that unauthenticated clients cannot probe paths.
 */
const pipeline = new Pipeline<Exchange>([
  accept, //       method, host, request id, size of the query, draining,     204 400 405 431 503
  //               pages of allowed origins
  health, //       /livez, /readyz                                            200 404 503
  pages, //        the pages of the server                                    any
  match, //        path → virtual workspace, parameters, tail                 400
  info, //         tail → verb, group, version, resource, namespace, name     400
  deadline, //     60 s; long-running requests have to begin by then          400 504
])
  // caller; too many failures of one address 400 401 429 503, then 404 for a path no view serves
  .establish<AuthenticatedExchange>(bounded(authenticate))
  .add(
    locate, //       :cluster → the name of a logical cluster; placed rejects
    audit, //        first audit event; waits while events cannot be written     503
    hops, //         number of servers that forwarded it, to end loops           500
    ready, //        the virtual workspace's own readiness                      503
    placed, //       no logical cluster is found                            403 404 429 500
    impersonate, //  impersonated user, if the server's rule allows it          400 403 500
    intercept, //    the server's own hook, which may answer                any
    fairness, //     concurrency limit; the others wait, each user in turn      429 503
  )
  // the virtual workspace's own rule                                    400 403 500
  .establish<AuthorizedExchange>(authorize)
  // discovery, OpenAPI, objects, raw handler, upgrade                   200 …
  .add(serve);

/** Every stage gets what earlier stages have established. */
const stages = pipeline.stages as readonly Stage[];

/** Runs a request through the pipeline. Never rejects: an error becomes a Status, or cuts the stream. */
async function run(exchange: Exchange): Promise<void> {
  try {
    for (const stage of stages) {
      const pending = stage(exchange);
      if (pending !== undefined) {
        startDeadline(exchange);
        if (exchange.admitted && exchange.isAuthenticated()) exchange.core.fairness.hold(exchange);
        await pending;
        // A closed request would be counted forever, and no client is left to get an answer.
        if (exchange.stream.destroyed || exchange.expired) return;
      }
      if (exchange.answered) return noteStarted(exchange);
    }
  } catch (error) {
    fail(exchange, error);
  } finally {
    exchange.seat?.through();
    startDeadline(exchange);
  }
}

/** Answers with a Status. A stream that has begun is cut, so that the client sees that it is incomplete. */
function fail(exchange: Exchange, error: unknown): void {
  const { res } = exchange;
  // The client has left, which a failed write shows before the response does, or has got its timeout: later errors are
  // consequences. An error after a complete response is not one of these.
  const left = (res.destroyed || res.socket?.destroyed === true) && !res.writableFinished;
  if (exchange.expired || left) return;
  if (!isApiError(error)) {
    exchange.failed = !res.writableEnded;
    const { path } = exchange;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    exchange.log({ level: "error", message: "request failed", path, error: text });
  }
  if (res.writableEnded) return;
  if (res.headersSent) res.destroy();
  else if (!isApiError(error)) respondStatus(res, unexpected(exchange));
  else tell(exchange, error);
}

/** An `ApiError` made by a view or an upstream may have a code that HTTP cannot express. */
function tell(exchange: Exchange, error: ApiError): void {
  try {
    // client-go reads aggregated discovery as bytes: kubectl prints "unknown" for the message of a denial, but it prints warnings.
    if (error.code === 403 && asksForAggregated(exchange)) exchange.warn(error.message);
    respondStatus(exchange.res, error);
  } catch (cause) {
    fail(exchange, new Error(`invalid ApiError in a response: ${String(cause)}`, { cause }));
  }
}

function asksForAggregated({ info, req }: Exchange): boolean {
  return (info?.path === "/api" || info?.path === "/apis") && isAggregated(req.headers.accept);
}

/** Returns an error that shows the client only the request id, the same as in `Audit-Id`. */
function unexpected({ requestId }: Exchange): ApiError {
  return ApiError.internalError(`request ${requestId} failed: see the server's log for the reason`);
}

/** Handlers for a Node server's events. */
export interface Handlers {
  request(req: IncomingMessage, res: ServerResponse): void;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Resolves when the response is complete. @throws the reason of the request's signal before there is a response */
  dispatch(req: IncomingMessage, res: ServerResponse, request: DispatchedRequest): Promise<void>;
}

/** Returns the pipeline as handlers of a Node server. */
export function handlers(core: ServerCore): Handlers {
  const { observers, tracing } = core;
  const prepare = core.pages === undefined ? retargeted(core) : preparedFor(core.pages, core);
  const handle = (exchange: Exchange, session?: PageCredentials): Promise<void> => {
    // One listener for all that ends with the request. Not `once`, which makes two more objects for each: `close` occurs once.
    exchange.stream.on("close", () => exchange.close());
    if (session !== undefined) endWithSession(session, exchange);
    for (const observer of observers) observer.began?.(exchange);
    return tracing.run(exchange, run);
  };
  const request = (req: IncomingMessage, res: ServerResponse): void => {
    res.on("error", ignore);
    // An earlier middleware took too long, and the client has left.
    if (res.destroyed) return;
    boundRest(req, res);
    const session = prepare(req);
    void handle(new Exchange(core, { req, res }), session);
  };
  return {
    request,
    upgrade: (req, socket, head) => {
      socket.on("error", ignore);
      // Node makes no response for upgrades; this one is used to reject them.
      const res = responseOn(socket as Socket, req);
      if (res === undefined) return;
      if (isPlain(req)) request(req, res);
      else {
        const session = prepare(req);
        void handle(new Exchange(core, { req, res, head }), session);
      }
    },
    dispatch: (req, res, dispatched) => {
      CLAIMS.drop(req);
      const exchange = new Exchange(core, { req, res, dispatched });
      return new Dispatch(exchange, dispatched).until(handle(exchange));
    },
  };
}

/** Security: a dispatched request has the headers that a proxy would forward: none that name a caller or an address. */
const CLAIMS = new IdentityHeaders(["forwarded", "x-forwarded-*"]);

/** A dispatched request, which ends with the one that was dispatched. */
class Dispatch {
  readonly #exchange: Exchange;
  readonly #request: DispatchedRequest;
  readonly #over = Promise.withResolvers<void>();

  constructor(exchange: Exchange, request: DispatchedRequest) {
    this.#exchange = exchange;
    this.#request = request;
  }

  /** @param begun resolves when the response has begun */
  async until(begun: Promise<void>): Promise<void> {
    const { cancellation } = this.#request;
    const signal = cancellation === undefined ? this.#request.signal : undefined;
    const { res } = this.#exchange;
    if (cancellation?.cancelled === true || signal?.aborted === true) this.#abort();
    cancellation?.on(this.#abort);
    signal?.addEventListener("abort", this.#abort, { once: true });
    try {
      await Promise.race([begun, this.#over.promise]);
      if (res.writableEnded || res.destroyed) return;
      res.once("close", this.#over.resolve);
      // Only watches and raw handlers get here, and the latter follow the signal by themselves.
      if (this.#exchange.watch !== undefined) this.#followEnding(this.#request.ending);
      await this.#over.promise;
    } finally {
      cancellation?.off(this.#abort);
      signal?.removeEventListener("abort", this.#abort);
    }
  }

  #followEnding(ending: AbortSignal): void {
    const end = (): void => this.#exchange.watch?.end();
    if (ending.aborted) end();
    ending.addEventListener("abort", end);
    this.#exchange.res.once("close", () => ending.removeEventListener("abort", end));
  }

  readonly #abort = (): void => {
    const { res, watch } = this.#exchange;
    const { reason } = this.#request.cancellation ?? this.#request.signal;
    if (!res.headersSent) {
      this.#exchange.expire(reason);
      this.#over.reject(reason);
    } else if (watch !== undefined) watch.end();
    else if (!res.writableEnded) res.destroy();
  };
}

/** Returns what prepares requests of a server without pages. */
function retargeted({ retarget }: ServerCore): (req: IncomingMessage) => undefined {
  return (req) => void retarget?.(req);
}

/** Notifies observers of responses that go on after the pipeline has finished. */
function noteStarted(request: ObservedRequest): void {
  if (request.info?.longRunning !== true || request.res.writableEnded || request.ended) return;
  for (const observer of request.core.observers) observer.started?.(request);
}
