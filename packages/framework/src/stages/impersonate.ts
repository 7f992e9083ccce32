import { type Impersonation, impersonationOf } from "../authn/impersonation.ts";
import { decide } from "../authz/decide.ts";
import type { Exchange } from "../exchange.ts";
import { AuthorizeQuestion } from "../hooks/hook-request.ts";
import type { Awaitable } from "../storage.ts";
import type { User } from "../request/user.ts";
import { enforce } from "./authorize.ts";

/** Goes on as somebody else, if the server's rule allows the caller every part of that; who passes that on asks nobody. */
export function impersonate(exchange: Exchange): void | Promise<void> {
  if (exchange.mounted.workspace.passesImpersonation === true) return;
  const wanted = impersonationOf(exchange.req.rawHeaders);
  if (wanted !== undefined) return become(exchange, wanted);
}

async function become(exchange: Exchange, { user, questions }: Impersonation): Promise<void> {
  const { impersonation } = exchange.core;
  const settled = await confined(exchange, user);
  for (const question of questions)
    enforce(exchange, question, await decide(impersonation, new AuthorizeQuestion(exchange, question)));
  exchange.decision = undefined; // of who may be whom, not yet of what they want
  exchange.impersonator = exchange.user as User;
  exchange.user = settled;
}

/** Who the rule makes of whom the headers name. */
function confined(exchange: Exchange, impersonated: User): Awaitable<User> {
  const { become } = exchange.core.impersonation;
  if (become === undefined) return impersonated;
  const { params, signal } = exchange;
  return become({ user: exchange.user as User, impersonated, params, signal });
}
