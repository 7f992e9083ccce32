import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import type { ServerCore } from "./core.ts";
import { respondStatus } from "./encode/respond.ts";
import { type AuthenticatedExchange, type AuthorizedExchange, Exchange, type Stage } from "./exchange.ts";
import { boundRest, ignore, isPlain, responseOn } from "./listener/malformed.ts";
import { type ObservedRequest, observe, streamOf } from "./observe/observer.ts";
import { serve } from "./serve/serve.ts";
import { accept, deadline, health, info, match } from "./stages/accept.ts";
import { audit, authenticate, bounded, impersonate } from "./stages/authenticate.ts";
import { authorize, fairness, hops, locate, ready } from "./stages/authorize.ts";

/** Stages in order. Each may count on what those before it have established, which the compiler sees to. */
class Pipeline<Known extends Exchange> {
  readonly stages: readonly Stage<Known>[];

  constructor(stages: readonly Stage<Known>[]) {
    this.stages = stages;
  }

  add(...stages: readonly Stage<Known>[]): Pipeline<Known> {
    return new Pipeline([...this.stages, ...stages]);
  }

  /** Adds a stage behind which more is known of each request: it ends all others. */
  establish<More extends Known>(stage: Stage<Known>): Pipeline<More> {
    return new Pipeline<More>([...this.stages, stage]);
  }
}

/**
 * The way of every request, in order. Before `authenticate` only refusals of bad URLs, `/livez` and `/readyz`
 * are answered. A path that no view serves is refused after authentication: strangers do not learn what there is.
 */
const pipeline = new Pipeline<Exchange>([
  accept, //       method, host, request id, size of the query, draining      400 405 431 503
  health, //       /livez, /readyz                                            200 404 503
  match, //        path → virtual workspace, parameters, tail                 400
  info, //         tail → verb, group, version, resource, namespace, name     400
  deadline, //     60 s; long-running requests have to begin by then          400 504
])
  // who asks; too many failures of one address                          400 401 429 503, then 404 for a path nobody serves
  .establish<AuthenticatedExchange>(bounded(authenticate))
  .add(
    audit, //        the first audit event; waits when they cannot be written    503
    hops, //         through how many servers it has come, to end circles        500
    ready, //        the virtual workspace's own readiness                      503
    locate, //       what :cluster says → the name of a logical cluster         403 404 429 500
    impersonate, //  as somebody else, if the server's rule allows it           400 403 500
    fairness, //     so many at a time; the others wait, each user in turn      429 503
  )
  // the virtual workspace's own rule                                    400 403 500
  .establish<AuthorizedExchange>(authorize)
  // discovery, OpenAPI, objects, raw handler, upgrade                   200 …
  .add(serve);

/** Every stage gets what those before it have established. */
const stages = pipeline.stages as readonly Stage[];

/** Sends a request down the pipeline. Never rejects: whatever goes wrong becomes a Status, or the end of the stream. */
async function run(exchange: Exchange): Promise<void> {
  try {
    for (const stage of stages) {
      const pending = stage(exchange);
      if (pending !== undefined) {
        if (exchange.admitted && exchange.isAuthenticated()) exchange.core.fairness.hold(exchange);
        await pending;
        // What is counted until a request is over would be counted for ever, and nobody is there to hear of the rest.
        if (streamOf(exchange).destroyed || exchange.expired) return;
      }
      if (exchange.answered) return noteStarted(exchange);
    }
  } catch (error) {
    fail(exchange, error);
  } finally {
    exchange.seat?.through();
  }
}

/** Answers with a Status; a stream that has begun can only be cut, so that the client knows it is not whole. */
function fail(exchange: Exchange, error: unknown): void {
  const { res } = exchange;
  // The client has left, which a failed write tells before the response knows, or was told that it took too long: what
  // goes wrong then is a consequence. A failure behind a whole answer is none.
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

/** An error that somebody made up, or passed on from elsewhere, may be none that HTTP can say. */
function tell(exchange: Exchange, error: ApiError): void {
  try {
    respondStatus(exchange.res, error);
  } catch (cause) {
    fail(exchange, new Error(`an ApiError that cannot be answered: ${String(cause)}`, { cause }));
  }
}

/** Of what went wrong a client is told where to look: the same id as in `Audit-Id`. */
function unexpected({ requestId }: Exchange): ApiError {
  return ApiError.internalError(`request ${requestId} failed, and the server's log says why`);
}

/** What a Node server's events are connected to. */
export interface Handlers {
  request(req: IncomingMessage, res: ServerResponse): void;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** The pipeline as handlers of a Node server. */
export function handlers(core: ServerCore): Handlers {
  const { observers, tracing } = core;
  const handle = (exchange: Exchange): void => {
    if (observers.length > 0) observe(exchange, observers);
    void tracing.run(exchange, run);
  };
  const request = (req: IncomingMessage, res: ServerResponse): void => {
    res.on("error", ignore);
    // Somebody in front of a middleware took their time, and the client has left.
    if (res.destroyed) return;
    boundRest(req, res);
    core.retarget?.(req);
    handle(new Exchange(core, { req, res }));
  };
  return {
    request,
    upgrade: (req, socket, head) => {
      socket.on("error", ignore);
      // Node makes no response for upgrades; ours is there to refuse with.
      const res = responseOn(socket as Socket, req);
      if (res === undefined) return;
      if (isPlain(req)) request(req, res);
      else {
        core.retarget?.(req);
        handle(new Exchange(core, { req, res, head }));
      }
    },
  };
}

/** To be called when the pipeline is through with a request: tells of answers that go on. */
function noteStarted(request: ObservedRequest): void {
  if (request.info?.longRunning !== true || request.res.writableEnded || request.ended) return;
  for (const observer of request.core.observers) observer.started?.(request);
}
