import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import type { Authenticator } from "../authn/authenticator.ts";
import type { Exchange } from "../exchange.ts";
import type { Mounted } from "../mounted.ts";
import { isUser, type User } from "../user.ts";

/** The first authenticator that knows the caller decides: the server's, then the view's. */
export function authenticate(exchange: Exchange): void | Promise<void> {
  const { authentication } = exchange.core;
  for (let at = 0; at < authentication.length; at++) {
    const verdict = ask(exchange, authentication[at] as Authenticator);
    if (verdict instanceof Promise) return askOthers(exchange, verdict, at + 1);
    if (verdict !== undefined) return accepted(exchange, verdict);
  }
  return askView(exchange);
}

async function askOthers(exchange: Exchange, first: Promise<User | undefined>, next: number): Promise<void> {
  const { authentication } = exchange.core;
  let verdict = await first;
  for (let at = next; verdict === undefined && at < authentication.length; at++) {
    verdict = await ask(exchange, authentication[at] as Authenticator);
  }
  if (verdict === undefined) return askView(exchange);
  accepted(exchange, verdict);
}

/** Whom the server does not know the view may: it says so of nobody else. */
function askView(exchange: Exchange): void | Promise<void> {
  const own = viewsOwn(exchange);
  const verdict = own && ask(exchange, own);
  if (verdict instanceof Promise) return verdict.then((late) => settled(exchange, late));
  settled(exchange, verdict);
}

function viewsOwn(exchange: Exchange): Authenticator | undefined {
  // Of a path that nobody serves there is none.
  const view = (exchange.mounted as Mounted | undefined)?.workspace;
  try {
    return view?.authentication?.(exchange.params);
  } catch (error) {
    return broken(exchange, { name: `of virtual workspace ${view?.name}` }, error);
  }
}

function settled(exchange: Exchange, verdict: User | undefined): void {
  if (verdict === undefined) throw nobody(exchange);
  accepted(exchange, verdict);
}

function ask(exchange: Exchange, authenticator: Authenticator): User | undefined | Promise<User | undefined> {
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
function known(verdict: User | undefined): User | undefined {
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
