import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import type { Authenticator } from "../authn/authenticator.ts";
import { explainUnrecognized } from "../authn/bearer-tokens.ts";
import { namesImpersonation } from "../authn/headers.ts";
import { REMOTE_USER } from "../authn/ignored-identities.ts";
import type { AuthenticatedExchange, Exchange, Stage } from "../exchange.ts";
import { UNAUTHENTICATED, type User } from "../request/user.ts";
import { act, become } from "./impersonate.ts";

type Verdict = User | undefined;

/**
 * Limits authentication by client address.
 *
 * Rejects with 429, before any authenticator is called, when too many attempts have failed or are under way.
 */
export function bounded(authenticate: Stage): Stage {
  return (exchange) => {
    const { core } = exchange;
    const refusal =
      core.authenticationFailures.known.size === 0 ? undefined : core.authenticationFailures.refusal(exchange);
    if (refusal !== undefined) return core.fairness.refusals.later(exchange, refusal, "failed-authentications");
    try {
      const pending = authenticate(exchange);
      return (
        pending &&
        core.authenticationFailures.during(exchange, pending).catch((error: unknown) => failed(exchange, error))
      );
    } catch (error) {
      return failed(exchange, error);
    }
  };
}

function failed(exchange: Exchange, error: unknown): never {
  const { core, user } = exchange;
  if (user === undefined && isApiError(error) && error.code === 401) core.authenticationFailures.failed(exchange);
  throw error;
}

/** Authenticates the caller: the first authenticator that recognizes it decides, the server's before the view's. */
export function authenticate(exchange: Exchange): void | Promise<void> {
  const { dispatched } = exchange;
  if (dispatched !== undefined) return accepted(exchange, dispatched.impersonator);
  return authenticateBy(exchange, viewsOwn);
}

/** Returns further authenticators, for callers that the server's own do not recognize. */
type FurtherAuthenticators = (exchange: Exchange) => readonly Authenticator[];

/** Authenticates the caller by the server's authenticators, and then by the further ones. */
export function authenticateBy(exchange: Exchange, further: FurtherAuthenticators): void | Promise<void> {
  const verdict = firstOf(exchange, exchange.core.authentication);
  if (!(verdict instanceof Promise)) return orFurther(exchange, verdict, further);
  return verdict.then((late) => orFurther(exchange, late, further));
}

function orFurther(exchange: Exchange, known: Verdict, further: FurtherAuthenticators): void | Promise<void> {
  if (known !== undefined) return settled(exchange, known);
  const own = further(exchange);
  const verdict = firstOf(exchange, own);
  if (!(verdict instanceof Promise)) return settled(exchange, verdict, own);
  return verdict.then((late) => settled(exchange, late, own));
}

/** Place of a request: the view that serves it, and the parts of its path. */
type Place = Partial<Pick<Exchange, "mounted">> & Pick<Exchange, "params" | "prefix" | "tail">;

function viewsOwn(exchange: Exchange): readonly Authenticator[] {
  return authenticatorsAt(exchange, exchange);
}

/** Returns the authenticators of the view at a place. */
export function authenticatorsAt(
  exchange: Exchange,
  { mounted, params, prefix, tail }: Place,
): readonly Authenticator[] {
  // A path without a view has no authenticators.
  const view = mounted?.workspace;
  try {
    return view?.authentication?.(params, { prefix, tail }) ?? [];
  } catch (error) {
    broken(exchange, { name: `virtual workspace ${view?.name}` }, error);
    return [];
  }
}

function settled(exchange: Exchange, verdict: Verdict, further: readonly Authenticator[] = []): void {
  // Most callers are known and send no identity headers: nothing of theirs is ignored.
  const isPlain = verdict !== undefined && exchange.req.headers[REMOTE_USER] === undefined;
  if (!isPlain || verdict.groups.includes(UNAUTHENTICATED)) exchange.core.ignoredIdentities.tell(exchange, verdict);
  if (verdict === undefined) {
    explainUnrecognized([...exchange.core.authentication, ...further], exchange.req);
    throw rejection(exchange);
  }
  accepted(exchange, verdict);
}

function firstOf(exchange: Exchange, all: readonly Authenticator[]): Verdict | Promise<Verdict> {
  for (let at = 0; at < all.length; at++) {
    const verdict = ask(exchange, all[at] as Authenticator);
    if (verdict instanceof Promise) return orOthers(exchange, verdict, all.slice(at + 1));
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

async function orOthers(
  exchange: Exchange,
  first: Promise<Verdict>,
  others: readonly Authenticator[],
): Promise<Verdict> {
  return (await first) ?? firstOf(exchange, others);
}

function ask(exchange: Exchange, authenticator: Authenticator): Verdict | Promise<Verdict> {
  const { req, core } = exchange;
  try {
    const verdict = authenticator.authenticate(req, core.connection);
    if (!(verdict instanceof Promise)) return known(verdict);
    return verdict.then(known).catch((error: unknown) => broken(exchange, authenticator, error));
  } catch (error) {
    return broken(exchange, authenticator, error);
  }
}

/** Security: a verdict that is no user (null, false, a foreign promise) authenticates no one. */
function known(verdict: Verdict): Verdict {
  if (verdict === undefined || isUser(verdict)) return verdict;
  throw new TypeError("the authenticator returned neither a User nor undefined");
}

/** Whether a value is a user with a name, whichever copy of this package made it. */
function isUser(value: unknown): value is User {
  if (typeof value !== "object" || value === null) return false;
  const { name, groups, in: isIn } = value as Partial<User>;
  return typeof name === "string" && name !== "" && Array.isArray(groups) && typeof isIn === "function";
}

function broken(exchange: Exchange, { name }: Pick<Authenticator, "name">, error: unknown): undefined {
  if (isApiError(error) && error.code === 400) throw error;
  exchange.authenticatorFailed = true;
  const isAway = isApiError(error) && error.code === 503;
  if (isAway) exchange.unauthenticated ??= error;
  // Starting servers answer so: the view of the request is not ready either, and has its own line.
  if (isAway && exchange.mounted?.problem() !== undefined) return undefined;
  // The caller receives a 503 itself.
  const level = isAway ? "info" : "error";
  exchange.log({ level, message: "authenticator failed", authenticator: name, error: String(error) });
}

/** Returns the 503 of an unavailable authenticator, which might recognize the caller, before a 401 about its credentials. */
function rejection({ unauthenticated }: Exchange): ApiError {
  return unauthenticated ?? ApiError.unauthorized();
}

function accepted(exchange: Exchange, user: User): void {
  exchange.user = user;
  if (exchange.unknown !== undefined) throw exchange.unknown;
}

/** Writes the first audit event, once the caller is authenticated. Holds the request back when events cannot be written fast enough. */
export function audit(exchange: Exchange): void | Promise<void> {
  return exchange.core.auditor?.received(exchange);
}

/** Impersonates a user, if the server's rule allows the caller every part of it. Skipped for views that forward impersonation. */
export function impersonate(exchange: AuthenticatedExchange): void | Promise<void> {
  if (exchange.mounted.workspace.passesImpersonation === true) return;
  const { dispatched, req } = exchange;
  if (dispatched !== undefined) return act(exchange, dispatched.user);
  if (namesImpersonation(req.rawHeaders)) return become(exchange);
}
