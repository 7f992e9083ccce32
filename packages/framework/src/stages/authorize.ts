import { forbiddenFor } from "@virtual-workspaces/apimachinery";
import type { Decision } from "../authorization.ts";
import type { Exchange } from "../exchange.ts";
import type { RequestInfo } from "../request-info.ts";
import { AuthorizeQuestion } from "../serve/hook-request.ts";
import type { User } from "../user.ts";

/** Asks the virtual workspace. A no is 403; a throw is 500 and says nothing of why. */
export function authorize(exchange: Exchange): void | Promise<void> {
  return authorizeAs(exchange, exchange.info);
}

/** The same about something else than the request seems to be about: an apply that creates is a create. */
export function authorizeAs(exchange: Exchange, info: RequestInfo): void | Promise<void> {
  const decision = exchange.mounted.workspace.authorize(new AuthorizeQuestion(exchange, info));
  if (decision instanceof Promise) return decision.then((settled) => enforce(exchange, info, settled));
  return enforce(exchange, info, decision);
}

/** The one place where a decision counts. @throws ApiError 403 when it is a no */
export function enforce(exchange: Exchange, info: RequestInfo, decision: Decision): void {
  exchange.decision = decision;
  if (decision.allowed === true) return;
  if (decision.allowed !== false) throw new Error("authorize must return allow() or deny(reason)");
  const user = (exchange.user as User).name;
  const { reason } = decision;
  if (!info.isResource) throw forbiddenFor({ user, verb: info.verb, path: `${exchange.prefix}${info.path}`, reason });
  const { verb, group, resource, subresource, namespace, name } = info;
  throw forbiddenFor({ user, verb, resource: { group, resource }, subresource, namespace, name, reason });
}
