import type { AuthorizeRequest, Authorizer, User } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { ShardAuthorizer } from "./authorizer.ts";
import type { ClusterParams } from "./cluster-request.ts";

/** Verb and object of an access check. */
export interface AccessAttributes {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Namespace of the object. @default "", for a cluster-scoped object */
  readonly namespace?: string;
  readonly name: string;
}

/**
 * Reports whether RBAC of a logical cluster allows a user an action. Access to the workspace itself is not checked
 * (kcp's deep SubjectAccessReview).
 */
export type IsAllowed = (user: User, cluster: string, access: AccessAttributes) => Awaitable<boolean>;

/** Checks RBAC of a logical cluster, whether or not the user may enter it: kcp's deep review. */
export function deepAccess(authorizer: Pick<ShardAuthorizer, "deep">, signal: AbortSignal): IsAllowed {
  return access(authorizer.deep, signal);
}

/** Checks an action with an authorizer. */
export function access(authorizer: Authorizer<ClusterParams>, signal: AbortSignal): IsAllowed {
  return (user, cluster, asked) => {
    const { group, version, resource, namespace = "", name } = asked;
    const within = namespace === "" ? "" : `/namespaces/${namespace}`;
    const question: AuthorizeRequest<ClusterParams> = {
      ...asked,
      isResource: true,
      path: `/apis/${group}/${version}${within}/${resource}/${name}`,
      identity: "",
      subresource: "",
      namespace,
      longRunning: false,
      upgrade: false,
      user,
      params: { cluster },
      signal,
    };
    const decision = authorizer(question);
    return decision instanceof Promise ? decision.then(({ allowed }) => allowed) : decision.allowed;
  };
}
