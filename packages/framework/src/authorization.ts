import type { RequestInfo } from "./request-info.ts";
import type { Awaitable } from "./storage.ts";
import { AUTHENTICATED, type User } from "./user.ts";

/** Yes, or no with a reason, which becomes part of the 403 message: keep secrets out of it. */
export type Decision = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/** What is asked: who, on which path parameters, to do what. */
export interface AuthorizeRequest<Params = Readonly<Record<string, string>>> extends RequestInfo {
  readonly user: User;
  readonly params: Params;
  readonly signal: AbortSignal;
}

/** A virtual workspace's own rule. There is no default: what it does not allow is 403. A throw is 500. */
export type Authorizer<Params = Readonly<Record<string, string>>> = (
  request: AuthorizeRequest<Params>,
) => Awaitable<Decision>;

const ALLOWED: Decision = Object.freeze({ allowed: true });

/** Yes. */
export function allow(): Decision {
  return ALLOWED;
}

/**
 * No, answered 403.
 *
 * @param reason what the caller can do about it; it is part of the message, so it must not tell secrets
 */
export function deny(reason: string): Decision {
  return { allowed: false, reason };
}

/** Everybody whose credentials were accepted. */
export function authenticated(): Authorizer<unknown> {
  return ({ user }) => (user.in(AUTHENTICATED) ? ALLOWED : deny("log in first"));
}
