import type { Exchange } from "../exchange.ts";

/** Who wants to know of requests: the access log, audit, metrics. Must not throw. */
export interface Observer {
  /** The head has been read. */
  began?(exchange: Exchange): void;
  /** The answer has begun of a request that is long-running (a watch, an upgrade), and goes on. */
  started?(exchange: Exchange): void;
  /** It is over, however it ended. */
  ended(exchange: Exchange): void;
}

/** The one place that knows when a request begins and when it is over, whatever the protocol. */
export function observe(exchange: Exchange, observers: readonly Observer[]): void {
  // Not `once`, which makes two more objects for each request: there is one `close`.
  streamOf(exchange).on("close", () => {
    exchange.ended = true;
    for (const observer of observers) observer.ended(exchange);
  });
  for (const observer of observers) observer.began?.(exchange);
}

/** To be called when the pipeline is through with a request: tells of answers that go on. */
export function noteStarted(exchange: Exchange): void {
  if (exchange.info?.longRunning !== true || exchange.res.writableEnded || exchange.ended) return;
  for (const observer of exchange.core.observers) observer.started?.(exchange);
}

/** What closes when a request is over: an upgraded connection leaves its response behind. */
export function streamOf({ upgradeHead, res, req }: Exchange): Exchange["res"] | Exchange["req"]["socket"] {
  return upgradeHead === undefined ? res : req.socket;
}

/** The status of the answer, 101 for an upgrade; 0 when the client left before there was one. */
export function codeOf({ res, upgradeHead, answered }: Exchange): number {
  if (res.headersSent) return res.statusCode;
  return upgradeHead !== undefined && answered ? 101 : 0;
}
