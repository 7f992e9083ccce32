import { WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Impersonation } from "@virtual-workspaces/client";
import { impersonated, type OutboundIdentity } from "@virtual-workspaces/forwarding";
import type { Identity } from "@virtual-workspaces/framework";
import { contentWarrant, withWarrant } from "@virtual-workspaces/kcp";

/**
 * As whom the server is asked: of all logical clusters at once as the view itself, in one of them as the caller, with a
 * warrant for an administrator there. So rules of the workspace do not keep the provider out, which the view has let in,
 * and all else is about the provider: audit, owners of fields, admission.
 */
export function throughExport(asked: OutboundIdentity): Exclude<OutboundIdentity, string> {
  return (caller, scope) => {
    if (scope === undefined || scope.cluster === WILDCARD) return undefined;
    const as = asCaller(asked, caller, scope);
    return as && warranted(as, scope.cluster);
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

function warranted(as: Impersonation, cluster: string): Impersonation {
  const { name, uid = "", groups = [], extra = {} } = as;
  return { ...as, extra: withWarrant({ name, uid, groups, extra }, contentWarrant(cluster)).extra };
}
