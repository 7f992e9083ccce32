import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import type { Awaitable } from "../storage.ts";
import type { User } from "../user.ts";
import type { RawRequest } from "../virtual-workspace.ts";

/** Hands the request over to the view's raw handler. */
export async function serveRaw(exchange: Exchange): Promise<void> {
  const { core, mounted, req, res } = exchange;
  exchange.answered = true;
  core.identityHeaders.drop(req);
  if (exchange.info.longRunning) exchange.leaveSeat();
  await mounted.workspace.handle?.(req, res, rawRequest(exchange));
}

/** Hands a connection over to the view, or refuses in HTTP what was asked as an upgrade. */
export async function serveUpgrade(exchange: Exchange): Promise<void> {
  const { mounted, req, upgradeHead: head } = exchange;
  const { upgrade } = mounted.workspace;
  if (upgrade === undefined || head === undefined) {
    throw ApiError.badRequest(
      `virtual workspace ${mounted.name} does not take upgrades; ask without the Upgrade header`,
    );
  }
  await handOver(exchange, (socket) => upgrade(req, socket, { ...rawRequest(exchange), head }));
}

/** Hands a connection over to whoever takes it. What they throw before they have said anything is answered in HTTP. */
export async function handOver(exchange: Exchange, take: (socket: Duplex) => Awaitable<void>): Promise<void> {
  const { core, req, res } = exchange;
  const { socket } = res;
  if (socket === null) throw new Error("the client left");
  exchange.answered = true;
  core.identityHeaders.drop(req);
  // The response was only there to refuse with.
  res.detachSocket(socket);
  exchange.leaveSeat();
  const { bytesWritten } = socket;
  try {
    await take(socket);
  } catch (error) {
    // Nothing has been said yet: it can be refused as if it had never begun.
    if (socket.bytesWritten === bytesWritten && socket.writable) res.assignSocket(socket);
    else socket.destroy();
    throw error;
  }
}

/** What raw handlers are told. */
export function rawRequest(exchange: Exchange): RawRequest<Readonly<Record<string, string>>> {
  const { params, requestId, prefix, tail, search, signal, hops } = exchange;
  return {
    ...{ user: exchange.user as User, params, requestId, prefix, tail, search, signal, hops },
    ending: exchange.core.ending,
    get via() {
      return exchange.via;
    },
    takeTime: () => {
      exchange.takeTime();
      exchange.leaveSeat();
    },
  };
}
