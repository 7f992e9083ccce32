import { type AuthorizeRequest, type Authorizer, deny, User } from "@virtual-workspaces/framework";
import type { ClusterParams } from "./cluster-request.ts";
import { effectiveUsers } from "./effective-users.ts";

/** Asks an authorizer that knows neither scopes nor warrants about each identity that counts; the first yes decides. */
export function perEffectiveUser(webhook: Authorizer<ClusterParams>): Authorizer<ClusterParams> {
  return async (question) => {
    const { cluster } = question.params;
    const reasons = new Set<string>();
    for (const one of effectiveUsers(question.user, cluster)) {
      const user = one === question.user ? question.user : new User(one);
      const decision = await webhook(asAsked(question, user));
      if (decision.allowed || decision.final === true) return decision;
      if (decision.reason !== "") reasons.add(decision.reason);
    }
    return deny([...reasons].join("; "));
  };
}

/** Field by field: some of a question are getters of its class. */
function asAsked(question: AuthorizeRequest<ClusterParams>, user: User): AuthorizeRequest<ClusterParams> {
  const { isResource, verb, path, group, version, resource, identity, subresource, namespace, name } = question;
  const { longRunning, upgrade, params, signal } = question;
  const names = { group, version, resource, identity, subresource, namespace, name };
  const info = { isResource, verb, path, ...names, longRunning, upgrade };
  return { ...info, user, params, signal };
}
