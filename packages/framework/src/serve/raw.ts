import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Cancellation } from "@virtual-workspaces/transport";
import { explainUnrecognized } from "../authn/bearer-tokens.ts";
import { bearerToken, callersToken, impersonationLines } from "../authn/headers.ts";
import { isAggregated } from "../discovery/negotiation.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { HookRequest } from "../hooks/hooks.ts";
import type { Mounted } from "../mounted.ts";
import { deriveRequest } from "../request/derive-request.ts";
import { HandledRequest, type LazyMembers } from "../request/handled-request.ts";
import { type Advertised, type ForwardingHandlers, type ServedResource, withVerbs } from "../resource/served.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { refuseUnknown } from "./scope.ts";

/** Hands the request over to the view's raw handler. */
export function serveRaw(exchange: AuthorizedExchange): Promise<void> {
  const { mounted, req, res } = exchange;
  return takeRaw(exchange, () => mounted.workspace.handle?.(req, res, rawRequest(exchange)));
}

/** Hands the request to a handler. Security: removes identity headers first, so that no upstream trusts a client's claim. */
async function takeRaw(exchange: AuthorizedExchange, take: () => Awaitable<void>): Promise<void> {
  exchange.answered = true;
  noteCaller(exchange);
  exchange.core.identityHeaders.drop(exchange.req);
  if (exchange.info.longRunning) exchange.leaveSeat();
  await take();
}

/** Hands an upgraded connection to the view, or rejects the upgrade in HTTP. */
export async function serveUpgrade(exchange: AuthorizedExchange): Promise<void> {
  const { mounted, req, upgradeHead: head } = exchange;
  const { upgrade } = mounted.workspace;
  // The handlers of a view with `handleWhen` get only the requests that it handles.
  const isTheirs = exchange.handled || mounted.workspace.handleWhen === undefined;
  if (upgrade === undefined || head === undefined || !isTheirs) return refuseUpgrade(mounted);
  await handOver(exchange, (socket) => upgrade(req, socket, deriveRequest(rawRequest(exchange), { head })));
}

/** @throws ApiError 400 */
function refuseUpgrade({ name }: Pick<Mounted, "name">): never {
  throw ApiError.badRequest(`virtual workspace ${name} does not take upgrades: remove the Upgrade header`);
}

/**
 * Maximum number of listeners on a connection that is handed over; above it Node reports a leak on stderr. Over TLS the
 * server alone has six for the connection's end, and a pipeline adds five.
 */
const LISTENERS = 30;

/** Hands a connection to `take`. An exception before `take` writes is answered in HTTP. */
export async function handOver(exchange: AuthorizedExchange, take: (socket: Duplex) => Awaitable<void>): Promise<void> {
  noteCaller(exchange);
  exchange.core.identityHeaders.drop(exchange.req);
  exchange.leaveSeat();
  const connection = connectionOf(exchange);
  const { socket } = connection;
  if (isAskedAgain(exchange) && !socket.destroyed) onceWithdrawn(exchange, socket, () => socket.destroy());
  try {
    await take(socket);
  } catch (error) {
    connection.giveBack();
    throw error;
  }
}

/** Calls `take` with the connection of an upgrade. An exception before it writes is answered in HTTP. */
export function withConnection<Taken>(exchange: AuthorizedExchange, take: (socket: Duplex) => Taken): Taken {
  const connection = connectionOf(exchange);
  try {
    return take(connection.socket);
  } catch (error) {
    connection.giveBack();
    throw error;
  }
}

interface TakenConnection {
  readonly socket: Duplex;
  /** Lets the response answer an error, unless something was written: then it cuts the connection. */
  giveBack(): void;
}

/** Takes the connection from the response, which only serves to reject the upgrade. */
function connectionOf(exchange: AuthorizedExchange): TakenConnection {
  const { res } = exchange;
  const { socket } = res;
  if (socket === null) throw new Error("the client disconnected");
  exchange.answered = true;
  res.detachSocket(socket);
  socket.setMaxListeners(LISTENERS);
  const { bytesWritten } = socket;
  return {
    socket,
    giveBack: () => {
      if (socket.bytesWritten === bytesWritten && socket.writable) res.assignSocket(socket);
      else socket.destroy();
    },
  };
}

/** Remembers the credentials and identity that the view takes, before their headers are removed. */
function noteCaller(exchange: AuthorizedExchange): void {
  noteToken(exchange);
  if (exchange.mounted.workspace.passesImpersonation === true)
    exchange.impersonation = exchange.dispatched?.impersonation ?? impersonationLines(exchange.req.rawHeaders);
}

/** Security: does not remember the token of a caller who impersonates: with it the view would act as the impersonator. */
function noteToken(exchange: AuthorizedExchange): void {
  const { core, mounted, impersonator, req, dispatched } = exchange;
  if (mounted.workspace.takesToken !== true) return;
  if (dispatched !== undefined) exchange.token = dispatched.token;
  else if (core.takesCallersTokens) exchange.token = callersToken(req);
  else if (impersonator === undefined) exchange.token = bearerToken(req);
}

/** Made on first use: only open-ended requests need it. */
function endingOf(exchange: AuthorizedExchange): AbortSignal {
  const { core, res, dispatched } = exchange;
  // After the client has disconnected, no `close` event would release the permission check.
  if ((!isAskedAgain(exchange) && dispatched === undefined) || res.destroyed) return core.ending;
  if (exchange.ending !== undefined) return exchange.ending;
  const over = new AbortController();
  const end = (): void => over.abort();
  if (isAskedAgain(exchange)) onceWithdrawn(exchange, res, end);
  for (const ending of [core.ending, ...(dispatched === undefined ? [] : [dispatched.ending])]) {
    if (ending.aborted) end();
    ending.addEventListener("abort", end);
    res.once("close", () => ending.removeEventListener("abort", end));
  }
  exchange.ending = over.signal;
  return over.signal;
}

function isAskedAgain({ mounted }: AuthorizedExchange): boolean {
  return mounted.workspace.authorize.watchesEvery !== undefined;
}

/** Rechecks the view's rule as long as the stream is open, and calls `end` when the rule no longer allows it. */
function onceWithdrawn(exchange: AuthorizedExchange, open: ServerResponse | Duplex, end: () => void): void {
  const permission = exchange.core.permissions.add(exchange, end);
  open.once("close", () => permission[Symbol.dispose]());
}

/** Returns the request that raw handlers receive. */
export function rawRequest(exchange: AuthorizedExchange): HandledRequest {
  return new HandledRequest(exchange, new Handling(exchange));
}

/** Makes what few handlers read. */
class Handling implements LazyMembers {
  readonly #exchange: AuthorizedExchange;

  constructor(exchange: AuthorizedExchange) {
    this.#exchange = exchange;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get cancellation(): Cancellation {
    return this.#exchange.cancellation;
  }

  get ending(): AbortSignal {
    return endingOf(this.#exchange);
  }

  get via(): string {
    return this.#exchange.via();
  }

  get loginFailed(): () => void {
    return () => {
      explainUnrecognized(this.#exchange.core.authentication, this.#exchange.req);
      this.#exchange.core.authenticationFailures.failedBehind(this.#exchange);
    };
  }

  get takeTime(): () => void {
    return () => {
      this.#exchange.takeTime();
      this.#exchange.leaveSeat();
    };
  }
}

/** Hands a request about objects to the handlers that forward the resource. */
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
  if (upgrade === undefined) throw rejectedUpgrade(resource);
  return handOver(exchange, (socket) => upgrade(req, socket, deriveRequest(rawRequest(exchange), { head })));
}

/** Returns the error for an upgrade of a request about objects that the resource does not take. */
export function rejectedUpgrade({ definition: { plural } }: ServedResource): ApiError {
  return ApiError.badRequest(`${plural} do not take upgrades: remove the Upgrade header`);
}

/** Returns the resources that discovery advertises. If the document lists a forwarded resource, its handlers report its verbs. */
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

/** Whether a discovery document lists the verbs of a resource. */
function isAbout({ info, req }: AuthorizedExchange, { definition: { group, version } }: ServedResource): boolean {
  const root = group === "" ? "/api" : "/apis";
  if (info.path === root) return isAggregated(req.headers.accept);
  return info.path === (group === "" ? `${root}/${version}` : `${root}/${group}/${version}`);
}
