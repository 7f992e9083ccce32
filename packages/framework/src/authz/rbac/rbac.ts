import type { Awaitable } from "../../util/awaitable.ts";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  type Decision,
  deny,
  type Rules,
  type RulesRequest,
} from "../authorization.ts";
import { readObjects } from "./files.ts";
import { aggregate, grantedRules, ruleAllows } from "./matches.ts";
import type { RbacObject } from "./objects.ts";
import { RbacPolicy } from "./policy.ts";

/** Where {@link rbac} has its roles and bindings from: one of these. */
export type RbacSource<Params = unknown> =
  | { readonly objects: Iterable<RbacObject> }
  /** A file of YAML or JSON, with any number of documents and lists in it, or a folder of such files. Read once. */
  | { readonly file: string }
  | {
      /** One that changes, or a function that finds the policy of a request, by its logical cluster for one; none is a no. */
      readonly policy: RbacPolicy | ((request: PolicyRequest<Params>) => Awaitable<RbacPolicy | undefined>);
    };

/** What a policy is found by. */
export interface PolicyRequest<Params> {
  readonly params: Params;
  readonly signal: AbortSignal;
}

/**
 * Decides by roles and bindings, exactly as Kubernetes' RBAC authorizer: Role, ClusterRole (aggregated ones too),
 * RoleBinding and ClusterRoleBinding of `rbac.authorization.k8s.io/v1`. Whoever is bound to nothing may do nothing; there
 * are no built-in roles, and `system:masters` is a group like others. Non-resource URLs are paths below the view (`/apis`).
 * A binding to a role that is not there grants nothing, and says so in the 403, as in Kubernetes.
 *
 * @throws Error on an object that Kubernetes would not take, naming its fields, and on a file that cannot be read
 */
export function rbac<Params = unknown>(source: RbacSource<Params>): Authorizer<Params> {
  const find = finder(source);
  const authorizer = (request: AuthorizeRequest<Params>): Awaitable<Decision> => {
    const policy = find(request);
    return policy instanceof Promise ? policy.then((found) => decideBy(found, request)) : decideBy(policy, request);
  };
  return Object.assign(authorizer, {
    rules: async (request: RulesRequest<Params>) => rulesOf(await find(request), request),
  });
}

type Find<Params> = (request: PolicyRequest<Params>) => Awaitable<RbacPolicy | undefined>;

function finder<Params>(source: RbacSource<Params>): Find<Params> {
  if ("policy" in source) {
    const { policy } = source;
    return typeof policy === "function" ? policy : () => policy;
  }
  const policy = new RbacPolicy("file" in source ? readObjects(source.file) : source.objects);
  return () => policy;
}

function decideBy(policy: RbacPolicy | undefined, request: AuthorizeRequest<unknown>): Decision {
  const missing: string[] = [];
  for (const { rules } of policy?.grants(request.user, request.isResource ? request.namespace : "") ?? []) {
    if (typeof rules === "string") missing.push(rules);
    else if (rules.some((rule) => ruleAllows(rule, request))) return allow();
  }
  return deny(missing.length === 0 ? "" : `RBAC: ${aggregate(missing)}`);
}

function rulesOf(policy: RbacPolicy | undefined, { user, namespace }: RulesRequest<unknown>): Rules {
  return grantedRules(policy?.grants(user, namespace) ?? []);
}
