import { isIP } from "node:net";
import type { NoTarget, ProxyTarget } from "@virtual-workspaces/kcp";
import { hostOf } from "@virtual-workspaces/transport";
import type { Addresses } from "../dial/addresses.ts";
import { none } from "../types/none.ts";

/** What whoever runs the view has said. */
export interface RefusalOptions {
  readonly addresses: Addresses;
  readonly callerHosts: readonly string[];
}

/**
 * Says what no mount may lead to, whichever type it is of: by plain http, where anybody on the way reads the credential, only hosts
 * that are allowed by name or address; with the callers' own tokens only those that are listed for it.
 */
export function refusal({ addresses, callerHosts }: RefusalOptions): (target: ProxyTarget) => NoTarget | undefined {
  const callers = new Set(callerHosts.map((host) => host.toLowerCase()));
  return ({ url, identity }) => {
    const to = new URL(url);
    const host = hostOf(to);
    if (to.protocol !== "https:" && !addresses.isAllowed(host))
      return none(
        "Unknown",
        "Insecure",
        "the target must be asked by https: http is for hosts that whoever runs this server allows",
      );
    if (isIP(host) !== 0 && !addresses.mayDial(host))
      return none(
        "Unknown",
        "Restricted",
        "its address is one that mounts may not lead to, unless whoever runs this server allows it",
      );
    if (identity === "Caller" && !callers.has(host))
      return none(
        "Unknown",
        "CallerRefused",
        "callers' own tokens are sent to no host but those that whoever runs this server lists",
      );
    return undefined;
  };
}
