import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { bearerToken, callersToken, impersonationLines } from "../authn/headers.ts";
import { isAggregated } from "../discovery/negotiation.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { HookRequest } from "../hooks/hooks.ts";
import type { Mounted } from "../mounted.ts";
import { deriveRequest } from "../request/derive-request.ts";
import type { RawRequest } from "../request/raw-request.ts";
import { type Advertised, type ForwardingHandlers, type ServedResource, withVerbs } from "../resource/served.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { refuseUnknown } from "./scope.ts";

/** Hands the request over to the view's raw handler. */
export function serveRaw(exchange: AuthorizedExchange): Promise<void> {
  const { mounted, req, res } = exchange;
  return takeRaw(exchange, () => mounted.workspace.handle?.(req, res, rawRequest(exchange)));
}

/** Hands the request over to whoever answers it in bytes. Nobody behind us is to take a client's word for who asks. */
async function takeRaw(exchange: AuthorizedExchange, take: () => Awaitable<void>): Promise<void> {
  exchange.answered = true;
  noteCaller(exchange);
  exchange.core.identityHeaders.drop(exchange.req);
  if (exchange.info.longRunning) exchange.leaveSeat();
  await take();
}

/** Hands a connection over to the view, or refuses in HTTP what was asked as an upgrade. */
export async function serveUpgrade(exchange: AuthorizedExchange): Promise<void> {
  const { mounted, req, upgradeHead: head } = exchange;
  const { upgrade } = mounted.workspace;
  // What a view's handlers are not for they are not handed.
  const isTheirs = exchange.handled || mounted.workspace.handleWhen === undefined;
  if (upgrade === undefined || head === undefined || !isTheirs) return refuseUpgrade(mounted);
  await handOver(exchange, (socket) => upgrade(req, socket, deriveRequest(rawRequest(exchange), { head })));
}

/** @throws ApiError 400 */
function refuseUpgrade({ name }: Pick<Mounted, "name">): never {
  throw ApiError.badRequest(`virtual workspace ${name} does not take upgrades; ask without the Upgrade header`);
}

/**
 * How many may listen to a connection that is handed over before Node takes it for a leak and says so on stderr. Over TLS the
 * server alone has six for its end, and a pipeline adds another five.
 */
const LISTENERS = 30;

/** Hands a connection over to whoever takes it. What they throw before they have said anything is answered in HTTP. */
export async function handOver(exchange: AuthorizedExchange, take: (socket: Duplex) => Awaitable<void>): Promise<void> {
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
function noteCaller(exchange: AuthorizedExchange): void {
  noteToken(exchange);
  if (exchange.mounted.workspace.passesImpersonation === true)
    exchange.impersonation = impersonationLines(exchange.req.rawHeaders);
}

/** Of callers who go on as somebody else it is not: whoever has it would go on as them. */
function noteToken(exchange: AuthorizedExchange): void {
  const { core, mounted, impersonator, req } = exchange;
  if (mounted.workspace.takesToken !== true) return;
  if (core.takesCallersTokens) exchange.token = callersToken(req);
  else if (impersonator === undefined) exchange.token = bearerToken(req);
}

/** Made when it is first asked for: what is not open-ended has no use for it. */
function endingOf(exchange: AuthorizedExchange): AbortSignal {
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

function isAskedAgain({ mounted }: AuthorizedExchange): boolean {
  return mounted.workspace.authorize.watchesEvery !== undefined;
}

/** Has the view's rule asked again as long as something is open. */
function onceWithdrawn(exchange: AuthorizedExchange, open: ServerResponse | Duplex, end: () => void): void {
  const permission = exchange.core.permissions.add(exchange, end);
  open.once("close", () => permission[Symbol.dispose]());
}

/** What raw handlers are told. */
export function rawRequest(exchange: AuthorizedExchange): RawRequest<Readonly<Record<string, string>>> {
  const { params, requestId, prefix, tail, search, signal, hops, token, impersonation } = exchange;
  return {
    ...{ user: exchange.user, params, requestId, prefix, tail, search, signal, hops },
    ...(token !== undefined && { token }),
    ...(impersonation !== undefined && { impersonation }),
    get ending() {
      return endingOf(exchange);
    },
    get via() {
      return exchange.via();
    },
    loginFailed: () => exchange.core.authenticationFailures.failedBehind(exchange),
    takeTime: () => {
      exchange.takeTime();
      exchange.leaveSeat();
    },
  };
}

/** Hands a request about objects to whoever answers it in the resource's stead. */
export function servePassed(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  passed: ForwardingHandlers,
): Promise<void> {
  refuseUnknown(exchange);
  const { req, res, upgradeHead: head } = exchange;
  if (resource.warning !== undefined) exchange.warn(resource.warning);
  if (head === undefined) return takeRaw(exchange, () => passed.handle(req, res, rawRequest(exchange)));
  const { upgrade } = passed;
  if (upgrade === undefined)
    throw ApiError.badRequest(`${resource.definition.plural} take no upgrades; ask without the Upgrade header`);
  return handOver(exchange, (socket) => upgrade(req, socket, deriveRequest(rawRequest(exchange), { head })));
}

/** What discovery tells of resources: of those that are elsewhere what is said there now, if this is about them. */
export function discoverable(
  exchange: AuthorizedExchange,
  resources: readonly ServedResource[],
): readonly Advertised[] | Promise<readonly Advertised[]> {
  const isAsked = (resource: ServedResource): boolean =>
    resource.forwardedBy?.discover !== undefined && isAbout(exchange, resource);
  return resources.some(isAsked) ? askAll(exchange, resources, isAsked) : resources;
}

async function askAll(
  exchange: AuthorizedExchange,
  resources: readonly ServedResource[],
  isAsked: (resource: ServedResource) => boolean,
): Promise<readonly Advertised[]> {
  const missing: string[] = [];
  const told = resources.map(async (resource): Promise<Advertised> => {
    if (!isAsked(resource)) return resource;
    const { group, plural } = resource.definition;
    try {
      return withVerbs(resource, (await resource.forwardedBy?.discover?.(new HookRequest(exchange))) ?? {});
    } catch (error) {
      const name = `${plural}.${group}`;
      exchange.log({ level: "info", message: "discovery failed", resource: name, error: String(error) });
      missing.push(name);
      return { ...resource, missing: true };
    }
  });
  const all = await Promise.all(told);
  if (missing.length > 0)
    exchange.warn(`Some resources are temporarily unavailable: [${[...new Set(missing)].sort().join(" ")}].`);
  return all;
}

/** Whether a discovery document tells verbs of a resource. */
function isAbout({ info, req }: AuthorizedExchange, { definition: { group, version } }: ServedResource): boolean {
  const root = group === "" ? "/api" : "/apis";
  if (info.path === root) return isAggregated(req.headers.accept);
  return info.path === (group === "" ? `${root}/${version}` : `${root}/${group}/${version}`);
}
