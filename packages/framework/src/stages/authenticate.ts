import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Authenticator } from "../authn/authenticator.ts";
import type { Exchange } from "../exchange.ts";
import type { User } from "../user.ts";

/** The first authenticator that knows the caller decides. */
export function authenticate(exchange: Exchange): void | Promise<void> {
  const { authentication } = exchange.core;
  for (let at = 0; at < authentication.length; at++) {
    const verdict = ask(exchange, authentication[at] as Authenticator);
    if (verdict instanceof Promise) return askOthers(exchange, verdict, at + 1);
    if (verdict !== undefined) return accepted(exchange, verdict);
  }
  throw ApiError.unauthorized();
}

async function askOthers(exchange: Exchange, first: Promise<User | undefined>, next: number): Promise<void> {
  const { authentication } = exchange.core;
  let verdict = await first;
  for (let at = next; verdict === undefined && at < authentication.length; at++) {
    verdict = await ask(exchange, authentication[at] as Authenticator);
  }
  if (verdict === undefined) throw ApiError.unauthorized();
  accepted(exchange, verdict);
}

function ask(exchange: Exchange, authenticator: Authenticator): User | undefined | Promise<User | undefined> {
  const broken = (error: unknown): undefined => {
    exchange.core.log({
      level: "error",
      message: "authenticator failed",
      authenticator: authenticator.name,
      error: String(error),
    });
  };
  try {
    const verdict = authenticator.authenticate(exchange.req, exchange.core.connection);
    return verdict instanceof Promise ? verdict.catch(broken) : verdict;
  } catch (error) {
    return broken(error);
  }
}

function accepted(exchange: Exchange, user: User): void {
  exchange.user = user;
  if (exchange.unknown !== undefined) throw exchange.unknown;
}
