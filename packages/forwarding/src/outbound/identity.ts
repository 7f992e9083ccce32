import type { Impersonation } from "@virtual-workspaces/client";
import type { Identity } from "@virtual-workspaces/framework";

/**
 * As whom the other server is asked. `impersonate`: as the caller, by a credential of ours that may impersonate; the other
 * server's own rules then decide. `none`: as ourselves, whoever asks: then `authorize` of the view is all that decides. A
 * function: as whom it says, or as ourselves.
 */
export type OutboundIdentity = "impersonate" | "none" | ((identity: Identity) => Impersonation | undefined);

/** As whom the other server is asked on behalf of a caller; `undefined` as ourselves. */
export function outboundIdentity(how: OutboundIdentity, identity: Identity): Impersonation | undefined {
  if (how === "none") return undefined;
  if (how !== "impersonate") return how(identity);
  const { name, uid, groups, extra } = identity;
  return { name, uid, groups, extra };
}
