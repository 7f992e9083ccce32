import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import type { User } from "../user.ts";
import type { RawRequest } from "../virtual-workspace.ts";

/** Hands the request over to the view's raw handler. */
export async function serveRaw(exchange: Exchange): Promise<void> {
  const { mounted, req, res } = exchange;
  exchange.answered = true;
  await mounted.workspace.handle?.(req, res, rawRequest(exchange));
}

/** Hands a connection over to the view, or refuses in HTTP what was asked as an upgrade. */
export async function serveUpgrade(exchange: Exchange): Promise<void> {
  const { mounted, req, res, upgradeHead: head } = exchange;
  const { upgrade } = mounted.workspace;
  const socket = res.socket;
  if (upgrade === undefined || head === undefined || socket === null) {
    throw ApiError.badRequest(
      `virtual workspace ${mounted.name} does not take upgrades; ask without the Upgrade header`,
    );
  }
  exchange.answered = true;
  // The response was only there to refuse with.
  res.detachSocket(socket);
  await upgrade(req, socket, { ...rawRequest(exchange), head });
}

function rawRequest(exchange: Exchange): RawRequest<Readonly<Record<string, string>>> {
  const { params, requestId, prefix, tail, search, signal } = exchange;
  return { user: exchange.user as User, params, requestId, prefix, tail, search, signal };
}
