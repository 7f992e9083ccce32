import { WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Impersonation } from "@virtual-workspaces/client";
import { impersonated, type OutboundIdentity } from "@virtual-workspaces/forwarding";
import type { Identity } from "@virtual-workspaces/framework";
import { CLUSTER_NAME_EXTRA, extraOf, formatWarrant, KCP_ADMIN_GROUP, WARRANT_EXTRA } from "@virtual-workspaces/kcp";

/** Who the warrant is about: a service account of the workspace itself, as kcp's own view names it. */
const WARRANTED = "system:serviceaccount:default:rest";

/**
 * As whom the server is asked: of all logical clusters at once as the view itself, in one of them as the caller, with a
 * warrant for an administrator there. So rules of the workspace do not keep the provider out, which the view has let in,
 * and all else is about the provider: audit, owners of fields, admission.
 */
export function throughExport(asked: OutboundIdentity): Exclude<OutboundIdentity, string> {
  return (caller, scope) => {
    if (scope === undefined || scope.cluster === WILDCARD) return undefined;
    const as = asCaller(asked, caller, scope);
    return as && withWarrant(as, scope.cluster);
  };
}

function asCaller(
  asked: OutboundIdentity,
  caller: Identity,
  scope: Parameters<Exclude<OutboundIdentity, string>>[1],
): Impersonation | undefined {
  if (asked === "none") return undefined;
  return asked === "impersonate" ? impersonated(caller) : asked(caller, scope);
}

function withWarrant(as: Impersonation, cluster: string): Impersonation {
  const extra = as.extra ?? {};
  const warrant = formatWarrant({
    name: WARRANTED,
    uid: "",
    groups: [KCP_ADMIN_GROUP],
    extra: { [CLUSTER_NAME_EXTRA]: [cluster] },
  });
  return { ...as, extra: { ...extra, [WARRANT_EXTRA]: [...extraOf({ extra }, WARRANT_EXTRA), warrant] } };
}
