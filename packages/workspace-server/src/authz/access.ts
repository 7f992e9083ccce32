import type { AuthorizeRequest, Authorizer, User } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { ShardAuthorizer } from "./authorizer.ts";
import type { ClusterParams } from "./cluster-request.ts";

/** Something that somebody may do or not, of an object. */
export interface AccessAttributes {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** @default "", it is of the whole logical cluster */
  readonly namespace?: string;
  readonly name: string;
}

/**
 * Whether a user may do something in a logical cluster, as RBAC there says. Of the chain that decides about requests all is
 * asked but the access to the workspace itself (kcp's deep SubjectAccessReview).
 */
export type IsAllowed = (user: User, cluster: string, access: AccessAttributes) => Awaitable<boolean>;

/** Asks what RBAC of a logical cluster says, whether or not the user may enter it: kcp's deep review. */
export function deepAccess(authorizer: Pick<ShardAuthorizer, "deep">, signal: AbortSignal): IsAllowed {
  return access(authorizer.deep, signal);
}

/** Asks an authorizer what it would say of a request. */
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
