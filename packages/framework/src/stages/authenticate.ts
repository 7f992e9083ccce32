import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import type { Authenticator } from "../authn/authenticator.ts";
import type { Exchange } from "../exchange.ts";
import type { Mounted } from "../mounted.ts";
import { isUser, type User } from "../request/user.ts";

type Verdict = User | undefined;

/** The first authenticator that knows the caller decides: the server's, then the view's. */
export function authenticate(exchange: Exchange): void | Promise<void> {
  const verdict = firstOf(exchange, exchange.core.authentication);
  return verdict instanceof Promise ? verdict.then((late) => orView(exchange, late)) : orView(exchange, verdict);
}

/** Whom the server does not know the view may: it says so of nobody else. */
function orView(exchange: Exchange, known: Verdict): void | Promise<void> {
  if (known !== undefined) return settled(exchange, known);
  const verdict = firstOf(exchange, viewsOwn(exchange));
  return verdict instanceof Promise ? verdict.then((late) => settled(exchange, late)) : settled(exchange, verdict);
}

function viewsOwn(exchange: Exchange): readonly Authenticator[] {
  // Of a path that nobody serves there are none.
  const view = (exchange.mounted as Mounted | undefined)?.workspace;
  const { params, prefix, tail } = exchange;
  try {
    return view?.authentication?.(params, { prefix, tail }) ?? [];
  } catch (error) {
    broken(exchange, { name: `of virtual workspace ${view?.name}` }, error);
    return [];
  }
}

function settled(exchange: Exchange, verdict: Verdict): void {
  if (verdict === undefined) throw nobody(exchange);
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

/** Whatever an authenticator returns that is no user (null, false, a promise of another make) lets nobody in. */
function known(verdict: Verdict): Verdict {
  if (verdict === undefined || isUser(verdict)) return verdict;
  throw new TypeError("what it returned is neither a User nor undefined");
}

function broken(exchange: Exchange, { name }: Pick<Authenticator, "name">, error: unknown): undefined {
  if (isApiError(error) && error.code === 400) throw error;
  exchange.authenticatorFailed = true;
  const isAway = isApiError(error) && error.code === 503;
  if (isAway) exchange.unauthenticated ??= error;
  // The caller is told the rest.
  const level = isAway ? "info" : "error";
  exchange.log({ level, message: "authenticator failed", authenticator: name, error: String(error) });
}

/** Who may be known by what is away for now is not told that the credentials are bad. */
function nobody({ unauthenticated }: Exchange): ApiError {
  return unauthenticated ?? ApiError.unauthorized();
}

function accepted(exchange: Exchange, user: User): void {
  exchange.user = user;
  if (exchange.unknown !== undefined) throw exchange.unknown;
}
