import type { AuthorizeRequest, Authorizer } from "@virtual-workspaces/framework";
import type { ClusterParams } from "./cluster-request.ts";
import type { ShardAuthorizer } from "./authorizer.ts";
import type { IsAllowed } from "./access.ts";

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
