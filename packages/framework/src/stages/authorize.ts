import { forbiddenFor, isClusterName, WILDCARD } from "@virtual-workspaces/apimachinery";
import { connecting, type Decision, decide, isReview, mayReview } from "../authz/authorization.ts";
import type { AuthenticatedExchange } from "../exchange.ts";
import { AuthorizeQuestion, HookRequest } from "../hooks/hooks.ts";
import { checkInterpreted } from "../request/path.ts";
import { hopsOf, MOST_HOPS, type RequestInfo, tooManyHops } from "../request/request-info.ts";
import type { Located } from "../virtual-workspace.ts";

/** Ends requests that are passed on in a circle. Whoever says so without having been passed on hurts nobody else. */
export function hops(exchange: AuthenticatedExchange): void {
  exchange.hops = hopsOf(exchange.req.headers);
  if (exchange.hops >= MOST_HOPS) throw tooManyHops(exchange.via());
}

/** A virtual workspace that is not ready yet says so, rather than that something is not there. */
export function ready(exchange: AuthenticatedExchange): void {
  const problem = exchange.mounted.problem();
  if (problem !== undefined) throw problem;
}

/**
 * Has the virtual workspace say which logical cluster is meant: from here on that is the one that the request is about.
 *
 * @throws ApiError what the hook answers; Error when that is no name of a logical cluster
 */
export function locate(exchange: AuthenticatedExchange): void | Promise<void> {
  const { locate } = exchange.mounted.workspace;
  if (locate === undefined) return undefined;
  const said = exchange.cluster;
  if (said === WILDCARD) return found(exchange, said);
  const place = locate(said, new HookRequest(exchange));
  if (place instanceof Promise) return place.then((late) => checked(exchange, late));
  return checked(exchange, place);
}

/** All clusters at once is nothing that one of them could turn out to be. */
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
  // Anew: whoever was asked before may have kept the other.
  exchange.params = { ...exchange.params, cluster: name };
}

/**
 * Lets a request in, or has it wait until it is its user's turn.
 *
 * @throws ApiError 429 when too many wait already, or it has waited too long
 */
export function fairness(exchange: AuthenticatedExchange): void | Promise<void> {
  return exchange.core.fairness.enter(exchange);
}

/** Asks the virtual workspace. A no is 403; a throw is 500 and says nothing of why; a tail is 400 that a view with `handleWhen` leaves to us, and that other views refuse. */
export function authorize(exchange: AuthenticatedExchange): void | Promise<void> {
  const { mounted, info, upgradeHead } = exchange;
  const { handleWhen } = mounted.workspace;
  exchange.handled = handleWhen?.(new AuthorizeQuestion(exchange, info)) === true;
  if (handleWhen !== undefined && !exchange.handled) checkInterpreted(exchange.tail);
  // An upgrade would be handed to the view, which has not allowed it; so would what its handler answers.
  if (isReview(info) && upgradeHead === undefined && !exchange.handled) return authorizeReview(exchange);
  const besides = connecting(info);
  return besides === undefined ? authorizeAs(exchange, info) : authorizeBoth(exchange, besides);
}

/** As what the request is, then as what it comes to. What is told of a yes is told of the request. */
async function authorizeBoth(exchange: AuthenticatedExchange, besides: RequestInfo): Promise<void> {
  await authorizeAs(exchange, exchange.info);
  const { decision } = exchange;
  await authorizeAs(exchange, besides);
  exchange.decision = decision;
}

/** The same about something else than the request seems to be about: an apply that creates is a create. */
export function authorizeAs(exchange: AuthenticatedExchange, info: RequestInfo): void | Promise<void> {
  const decision = decide(exchange.mounted.workspace.authorize, new AuthorizeQuestion(exchange, info));
  if (decision instanceof Promise) return decision.then((settled) => enforce(exchange, info, settled));
  return enforce(exchange, info, decision);
}

/** A view is not asked about the reviews that it does not serve itself. What is decided on is what is served. */
async function authorizeReview(exchange: AuthenticatedExchange): Promise<void> {
  const { mounted, info, user } = exchange;
  const review = await mounted.reviews.of(exchange, info);
  if (review === undefined) return authorizeAs(exchange, info);
  enforce(exchange, info, mayReview(user));
  exchange.review = review;
}

/** The one place where a decision counts. @throws ApiError 403 when it is a no */
export function enforce(exchange: AuthenticatedExchange, info: RequestInfo, decision: Decision): void {
  exchange.decision = decision;
  if (decision.allowed) return;
  const user = exchange.user.name;
  const { reason } = decision;
  if (!info.isResource) throw forbiddenFor({ user, verb: info.verb, path: shownPath(exchange, info), reason });
  const { verb, group, resource, subresource, namespace, name } = info;
  throw forbiddenFor({ user, verb, resource: { group, resource }, subresource, namespace, name, reason });
}

/** A view at a prefix of its own is a server of its own, as each of kcp's logical clusters is: it says what it was asked for. */
function shownPath({ prefix, mounted }: AuthenticatedExchange, { path }: RequestInfo): string {
  return mounted.prefix === undefined ? `${prefix}${path}` : path;
}
