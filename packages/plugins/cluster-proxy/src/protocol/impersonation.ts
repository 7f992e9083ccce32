import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import type { Impersonation } from "@virtual-workspaces/client/http";
import type { Identity } from "@virtual-workspaces/framework";
import { AUTHENTICATED } from "@virtual-workspaces/framework/authn";

const SYSTEM = "system:";

/**
 * As whom a remote cluster is asked: by name and groups, of which none is an API server's own but that of everybody who has logged in, or
 * an administrator here would be one there. Uid and extra stay here: they are about this server. Hubs say no more, and agents tell their cluster no more.
 *
 * @throws ApiError 403 for who has no other name than one of the system: nodes, controllers, service accounts
 */
export function impersonationOf({ name, groups }: Identity): Impersonation {
  if (name.startsWith(SYSTEM))
    throw ApiError.forbidden({
      resource: { group: "", resource: "" },
      message: `${quote(name)} is nobody in a remote cluster: names that begin with ${SYSTEM} are each cluster's own. Log in as a user`,
    });
  return { name, groups: groups.filter((group) => !group.startsWith(SYSTEM) || group === AUTHENTICATED) };
}
