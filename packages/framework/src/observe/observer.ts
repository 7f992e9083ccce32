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

/** The one place that knows when a request begins, when its answer has, and when it is over; for all protocols. */
export function observe(exchange: Exchange, observers: readonly Observer[], run: () => Promise<void>): void {
  let open = true;
  // An upgraded connection leaves its response behind.
  const { res, req, upgradeHead } = exchange;
  (upgradeHead === undefined ? res : req.socket).once("close", () => {
    open = false;
    for (const observer of observers) observer.ended(exchange);
  });
  for (const observer of observers) observer.began?.(exchange);
  void run().then(() => {
    if (!open || !exchange.answered || exchange.info?.longRunning !== true || res.writableEnded) return;
    for (const observer of observers) observer.started?.(exchange);
  });
}

/** The status of the answer, 101 for an upgrade; 0 when the client left before there was one. */
export function codeOf({ res, upgradeHead, answered }: Exchange): number {
  if (res.headersSent) return res.statusCode;
  return upgradeHead !== undefined && answered ? 101 : 0;
}
