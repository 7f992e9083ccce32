import type { AuthorizeRequest, Authorizer, Decision } from "./authorization.ts";

/**
 * Asks an authorizer: the one place that does. Synchronous where it is.
 *
 * @throws Error when it answers neither yes nor no, and what it throws
 */
export function decide<Params>(
  authorizer: Authorizer<Params>,
  question: AuthorizeRequest<Params>,
): Decision | Promise<Decision> {
  const decision = authorizer(question);
  return decision instanceof Promise ? decision.then(checked) : checked(decision);
}

function checked(decision: Decision): Decision {
  const { allowed } = decision;
  if (allowed === true || allowed === false) return decision;
  throw new Error("authorize must return allow() or deny(reason)");
}
