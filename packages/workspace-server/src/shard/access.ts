import type { AuthorizeRequest } from "@virtual-workspaces/framework";
import type { ClusterParams } from "../authz/asked.ts";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { IsAllowed } from "../workspaces/access.ts";

/** Asks what RBAC of a logical cluster says, whether or not the user may enter it: kcp's deep review. */
export function deepAccess(authorizer: Pick<ShardAuthorizer, "deep">, signal: AbortSignal): IsAllowed {
  return (user, cluster, access) => {
    const { group, version, resource, name } = access;
    const question: AuthorizeRequest<ClusterParams> = {
      ...access,
      isResource: true,
      path: `/apis/${group}/${version}/${resource}/${name}`,
      identity: "",
      subresource: "",
      namespace: "",
      longRunning: false,
      upgrade: false,
      user,
      params: { cluster },
      signal,
    };
    const decision = authorizer.deep(question);
    return decision instanceof Promise ? decision.then(({ allowed }) => allowed) : decision.allowed;
  };
}
