import { forbiddenFor } from "@virtual-workspaces/apimachinery";
import type { Decision } from "../authorization.ts";
import type { Exchange } from "../exchange.ts";
import { AuthorizeQuestion } from "../serve/hook-request.ts";
import type { User } from "../user.ts";

/** Asks the virtual workspace. A no is 403; a throw is 500 and says nothing of why. */
export function authorize(exchange: Exchange): void | Promise<void> {
  const decision = exchange.mounted.workspace.authorize(new AuthorizeQuestion(exchange));
  if (decision instanceof Promise) return decision.then((settled) => enforce(exchange, settled));
  return enforce(exchange, decision);
}

function enforce(exchange: Exchange, decision: Decision): void {
  if (decision.allowed === true) return;
  if (decision.allowed !== false) throw new Error("authorize must return allow() or deny(reason)");
  const { info } = exchange;
  const user = (exchange.user as User).name;
  const { reason } = decision;
  if (!info.isResource) throw forbiddenFor({ user, verb: info.verb, path: `${exchange.prefix}${info.path}`, reason });
  const { verb, group, resource, subresource, namespace, name } = info;
  throw forbiddenFor({ user, verb, resource: { group, resource }, subresource, namespace, name, reason });
}
