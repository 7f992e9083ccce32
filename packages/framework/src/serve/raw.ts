import type { IncomingMessage } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";
import type { User } from "../user.ts";
import type { RawRequest } from "../virtual-workspace.ts";

/** Hands the request over to the view's raw handler. */
export async function serveRaw(exchange: Exchange): Promise<void> {
  const { mounted, req, res } = exchange;
  exchange.answered = true;
  dropCredentials(req);
  await mounted.workspace.handle?.(req, res, rawRequest(exchange));
}

/** Hands a connection over to the view, or refuses in HTTP what was asked as an upgrade. */
export async function serveUpgrade(exchange: Exchange): Promise<void> {
  const { mounted, req, res, upgradeHead: head } = exchange;
  const { upgrade } = mounted.workspace;
  const { socket } = res;
  if (upgrade === undefined || head === undefined || socket === null) {
    throw ApiError.badRequest(
      `virtual workspace ${mounted.name} does not take upgrades; ask without the Upgrade header`,
    );
  }
  exchange.answered = true;
  dropCredentials(req);
  // The response was only there to refuse with.
  res.detachSocket(socket);
  const { bytesWritten } = socket;
  try {
    await upgrade(req, socket, { ...rawRequest(exchange), head });
  } catch (error) {
    // Nothing has been said yet: it can be refused as if it had never begun.
    if (socket.bytesWritten === bytesWritten && socket.writable) res.assignSocket(socket);
    else socket.destroy();
    throw error;
  }
}

function rawRequest(exchange: Exchange): RawRequest<Readonly<Record<string, string>>> {
  const { params, requestId, prefix, tail, search, signal } = exchange;
  return { user: exchange.user as User, params, requestId, prefix, tail, search, signal };
}

/** Credentials were for us: a raw handler that passes headers on, in whichever form, must not pass them on. */
function dropCredentials(req: IncomingMessage): void {
  // Read before the raw list is cut: Node makes these from it on first reading, by its old length.
  const { headers, headersDistinct, rawHeaders } = req;
  delete headers.authorization;
  delete headersDistinct["authorization"];
  req.rawHeaders = rawHeaders.filter((_text, at) => rawHeaders[at - (at % 2)]?.toLowerCase() !== "authorization");
}
