import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { boundRest } from "./listener/unread.ts";
import type { ServerCore } from "./core.ts";
import { Exchange } from "./exchange.ts";
import { isPlain } from "./listener/h2c.ts";
import { ignore, responseOn } from "./listener/malformed.ts";
import { observe } from "./observe/observer.ts";
import { run } from "./pipeline.ts";

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
    core.retarget(req);
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
        core.retarget(req);
        handle(new Exchange(core, { req, res, head }));
      }
    },
  };
}
