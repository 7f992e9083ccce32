import { forbiddenFor, isClusterName, WILDCARD } from "@virtual-workspaces/apimachinery";
import { connecting, type Decision, decide, isReview, mayReview } from "../authz/authorization.ts";
import type { AuthenticatedExchange } from "../exchange.ts";
import { AuthorizeQuestion, HookRequest } from "../hooks/hooks.ts";
import { InterceptQuestion } from "../hooks/intercept.ts";
import { checkInterpreted } from "../request/path.ts";
import { hopsOf, MOST_HOPS, type RequestInfo, tooManyHops } from "../request/request-info.ts";
import type { Located } from "../virtual-workspace.ts";
import { checkOrigin } from "./origins.ts";

/** Rejects requests that servers forward in a circle. A client with a false hop count harms only itself. */
export function hops(exchange: AuthenticatedExchange): void {
  exchange.hops = exchange.dispatched?.hops ?? hopsOf(exchange.req.headers);
  if (exchange.hops >= MOST_HOPS) throw tooManyHops(exchange.via());
}

/** Rejects requests while the virtual workspace is not ready, so that it does not answer 404. */
export function ready(exchange: AuthenticatedExchange): void {
  const problem = exchange.mounted.problem();
  if (problem !== undefined) throw problem;
}

/**
 * Resolves the logical cluster of the request with the view's `locate`. Later stages use the resolved one. A failure waits for
 * {@link placed}, so that the first audit event names the logical cluster, and rejected requests have that event too.
 */
export function locate(exchange: AuthenticatedExchange): void | Promise<void> {
  const { locate } = exchange.mounted.workspace;
  if (locate === undefined || exchange.mounted.problem() !== undefined) return undefined;
  const said = exchange.cluster;
  if (said === WILDCARD) return found(exchange, said);
  const failed = (error: unknown): void => {
    exchange.unplaced = { error };
  };
  try {
    const place = locate(said, new HookRequest(exchange));
    if (place instanceof Promise) return place.then((late) => checked(exchange, late)).catch(failed);
    return checked(exchange, place);
  } catch (error) {
    return failed(error);
  }
}

/** Rejects requests whose logical cluster is not found. @throws ApiError of the hook; Error when its result is no name of one */
export function placed({ unplaced }: AuthenticatedExchange): void {
  if (unplaced !== undefined) throw unplaced.error;
}

/** Checks the result of `locate`. One logical cluster never resolves to all of them. */
function checked(exchange: AuthenticatedExchange, place: string | Located): void {
  const isNamed = typeof place === "string";
  const name = isNamed ? place : place?.cluster;
  if (typeof name !== "string" || !isClusterName(name))
    throw new Error(`locate must return the name of a logical cluster: it returned ${JSON.stringify(place)}`);
  if (!isNamed) exchange.params = { ...place.params, ...exchange.params };
  found(exchange, name);
}

function found(exchange: AuthenticatedExchange, name: string): void {
  exchange.located = true;
  if (name === exchange.cluster) return;
  // A new object, since earlier hooks may have kept the old one.
  exchange.params = { ...exchange.params, cluster: name };
}

/** Calls the server's `intercept`, which may answer the request. @throws what it throws */
export function intercept(exchange: AuthenticatedExchange): void | Promise<void> {
  const { intercept } = exchange.core;
  if (intercept === undefined) return undefined;
  const answered = intercept(new InterceptQuestion(exchange));
  if (answered instanceof Promise) return answered.then((late) => taken(exchange, late));
  return taken(exchange, answered === true);
}

function taken(exchange: AuthenticatedExchange, answered: boolean): void {
  if (answered) exchange.answered = true;
}

/**
 * Admits a request, or queues it until its user's turn.
 *
 * @throws ApiError 429 when too many requests wait already, or it has waited too long
 */
export function fairness(exchange: AuthenticatedExchange): void | Promise<void> {
  return exchange.core.fairness.enter(exchange);
}

/**
 * Calls the view's `authorize`: 403 on a denial, 500 without details on an exception. 400 on a malformed path that
 * `handleWhen` declines.
 */
export function authorize(exchange: AuthenticatedExchange): void | Promise<void> {
  const { mounted, info, upgradeHead } = exchange;
  const { handleWhen } = mounted.workspace;
  if (upgradeHead !== undefined) checkOrigin(exchange);
  const question = new AuthorizeQuestion(exchange, info);
  exchange.handled = handleWhen?.(question) === true;
  if (handleWhen !== undefined && !exchange.handled) checkInterpreted(exchange.tail);
  // Reviews skip `authorize`, so an upgrade or a request for the view's handler does not count as one.
  if (isReview(info) && upgradeHead === undefined && !exchange.handled) return authorizeReview(exchange);
  const besides = connecting(info);
  return besides === undefined ? authorizeAs(exchange, info, question) : authorizeBoth(exchange, besides);
}

/** Authorizes an upgrade as sent, and as the `create` that Kubernetes demands. Records the decision on the request as sent. */
async function authorizeBoth(exchange: AuthenticatedExchange, besides: RequestInfo): Promise<void> {
  await authorizeAs(exchange, exchange.info);
  const { decision } = exchange;
  await authorizeAs(exchange, besides);
  exchange.decision = decision;
}

/** Authorizes the request as something else: an apply that creates is a create. */
export function authorizeAs(
  exchange: AuthenticatedExchange,
  info: RequestInfo,
  question: AuthorizeQuestion = new AuthorizeQuestion(exchange, info),
): void | Promise<void> {
  const decision = decide(exchange.mounted.workspace.authorize, question);
  if (decision instanceof Promise) return decision.then((settled) => enforce(exchange, info, settled));
  return enforce(exchange, info, decision);
}

/** Authorizes a review without the view's rule, unless the view serves it. The review authorized here is the one served. */
async function authorizeReview(exchange: AuthenticatedExchange): Promise<void> {
  const { mounted, info, user } = exchange;
  const review = await mounted.reviews.of(exchange, info);
  if (review === undefined) return authorizeAs(exchange, info);
  enforce(exchange, info, mayReview(user));
  exchange.review = review;
}

/** Applies a decision; nothing else does. @throws ApiError 403 on a denial */
export function enforce(exchange: AuthenticatedExchange, info: RequestInfo, decision: Decision): void {
  exchange.decision = decision;
  if (decision.allowed) return;
  const user = exchange.user.name;
  const { reason } = decision;
  if (!info.isResource) throw forbiddenFor({ user, verb: info.verb, path: shownPath(exchange, info), reason });
  const { verb, group, resource, subresource, namespace, name } = info;
  throw forbiddenFor({ user, verb, resource: { group, resource }, subresource, namespace, name, reason });
}

/** Returns the path for a 403, without the prefix of a view that acts as a server of its own, as kcp's logical clusters do. */
function shownPath({ prefix, mounted }: AuthenticatedExchange, { path }: RequestInfo): string {
  return mounted.prefix === undefined ? `${prefix}${path}` : path;
}
