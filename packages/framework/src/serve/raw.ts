import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { bearerToken } from "../authn/bearer-token.ts";
import { callersToken } from "../authn/callers-token.ts";
import { impersonationLines } from "../authn/impersonation.ts";
import type { Exchange } from "../exchange.ts";
import type { Mounted } from "../mounted.ts";
import type { Awaitable } from "../storage.ts";
import type { User } from "../request/user.ts";
import type { RawRequest } from "../virtual-workspace.ts";

/** Hands the request over to the view's raw handler. */
export function serveRaw(exchange: Exchange): Promise<void> {
  const { mounted, req, res } = exchange;
  return takeRaw(exchange, () => mounted.workspace.handle?.(req, res, rawRequest(exchange)));
}

/** Hands the request over to whoever answers it in bytes. Nobody behind us is to take a client's word for who asks. */
export async function takeRaw(exchange: Exchange, take: () => Awaitable<void>): Promise<void> {
  exchange.answered = true;
  noteCaller(exchange);
  exchange.core.identityHeaders.drop(exchange.req);
  if (exchange.info.longRunning) exchange.leaveSeat();
  await take();
}

/** Hands a connection over to the view, or refuses in HTTP what was asked as an upgrade. */
export async function serveUpgrade(exchange: Exchange): Promise<void> {
  const { mounted, req, upgradeHead: head } = exchange;
  const { upgrade } = mounted.workspace;
  if (upgrade === undefined || head === undefined) return refuseUpgrade(mounted);
  await handOver(exchange, (socket) => upgrade(req, socket, { ...rawRequest(exchange), head }));
}

/** @throws ApiError 400 */
export function refuseUpgrade({ name }: Pick<Mounted, "name">): never {
  throw ApiError.badRequest(`virtual workspace ${name} does not take upgrades; ask without the Upgrade header`);
}

/**
 * How many may listen to a connection that is handed over before Node takes it for a leak and says so on stderr. Over TLS the
 * server alone has six for its end, and a pipeline adds another five.
 */
const LISTENERS = 30;

/** Hands a connection over to whoever takes it. What they throw before they have said anything is answered in HTTP. */
export async function handOver(exchange: Exchange, take: (socket: Duplex) => Awaitable<void>): Promise<void> {
  const { core, req, res } = exchange;
  const { socket } = res;
  if (socket === null) throw new Error("the client left");
  exchange.answered = true;
  noteCaller(exchange);
  core.identityHeaders.drop(req);
  // The response was only there to refuse with.
  res.detachSocket(socket);
  socket.setMaxListeners(LISTENERS);
  exchange.leaveSeat();
  const { bytesWritten } = socket;
  if (isAskedAgain(exchange) && !socket.destroyed) onceWithdrawn(exchange, socket, () => socket.destroy());
  try {
    await take(socket);
  } catch (error) {
    // Nothing has been said yet: it can be refused as if it had never begun.
    if (socket.bytesWritten === bytesWritten && socket.writable) res.assignSocket(socket);
    else socket.destroy();
    throw error;
  }
}

/** What a view takes of what says who asks, which is about to be taken off. */
function noteCaller(exchange: Exchange): void {
  noteToken(exchange);
  if (exchange.mounted.workspace.passesImpersonation === true)
    exchange.impersonation = impersonationLines(exchange.req.rawHeaders);
}

/** Of callers who go on as somebody else it is not: whoever has it would go on as them. */
function noteToken(exchange: Exchange): void {
  const { core, mounted, impersonator, req } = exchange;
  if (mounted.workspace.takesToken !== true) return;
  if (core.takesCallersTokens) exchange.token = callersToken(req);
  else if (impersonator === undefined) exchange.token = bearerToken(req);
}

/** Made when it is first asked for: what is not open-ended has no use for it. */
function endingOf(exchange: Exchange): AbortSignal {
  const { core, res } = exchange;
  // Of a client that has left nothing would ever say that it is over.
  if (!isAskedAgain(exchange) || res.destroyed) return core.ending;
  if (exchange.ending !== undefined) return exchange.ending;
  const over = new AbortController();
  const end = (): void => over.abort();
  onceWithdrawn(exchange, res, end);
  if (core.ending.aborted) end();
  core.ending.addEventListener("abort", end);
  res.once("close", () => core.ending.removeEventListener("abort", end));
  exchange.ending = over.signal;
  return over.signal;
}

function isAskedAgain({ mounted }: Exchange): boolean {
  return mounted.workspace.authorize.watchesEvery !== undefined;
}

/** Has the view's rule asked again as long as something is open. */
function onceWithdrawn(exchange: Exchange, open: ServerResponse | Duplex, end: () => void): void {
  const permission = exchange.core.permissions.add(exchange, end);
  open.once("close", () => permission[Symbol.dispose]());
}

/** What raw handlers are told. */
export function rawRequest(exchange: Exchange): RawRequest<Readonly<Record<string, string>>> {
  const { params, requestId, prefix, tail, search, signal, hops, token, impersonation } = exchange;
  return {
    ...{ user: exchange.user as User, params, requestId, prefix, tail, search, signal, hops },
    ...(token !== undefined && { token }),
    ...(impersonation !== undefined && { impersonation }),
    get ending() {
      return endingOf(exchange);
    },
    get via() {
      return exchange.via;
    },
    loginFailed: () => exchange.core.strangers.failedBehind(exchange),
    takeTime: () => {
      exchange.takeTime();
      exchange.leaveSeat();
    },
  };
}
