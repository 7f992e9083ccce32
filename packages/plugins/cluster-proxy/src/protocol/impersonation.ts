import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import type { Impersonation } from "@virtual-workspaces/client/http";
import type { Identity } from "@virtual-workspaces/framework";
import { AUTHENTICATED } from "@virtual-workspaces/framework/authn";

const SYSTEM = "system:";

/**
 * Returns the identity of a caller in a remote cluster: the name and groups, without the UID and extra fields of this server. Hubs and
 * agents send nothing else. Security: groups that start with `system:` are removed except `system:authenticated`, since an administrator
 * here would otherwise be one there.
 *
 * @throws ApiError 403 for names that start with `system:`: nodes, controllers and service accounts
 */
export function impersonationOf({ name, groups }: Identity): Impersonation {
  if (name.startsWith(SYSTEM))
    throw ApiError.forbidden({
      resource: { group: "", resource: "" },
      message: `${quote(name)} has no identity in remote clusters, since names that start with ${SYSTEM} belong to each cluster: log in as a user`,
    });
  return { name, groups: groups.filter((group) => !group.startsWith(SYSTEM) || group === AUTHENTICATED) };
}
