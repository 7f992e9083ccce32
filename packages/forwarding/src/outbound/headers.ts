import { impersonationHeaders } from "@virtual-workspaces/client";
import { HOPS_HEADER, type Scope } from "@virtual-workspaces/framework";
import { type OutboundIdentity, outboundIdentity } from "./identity.ts";

/**
 * What every request to another server says, as flat pairs: through how many servers it has come, through which, and on
 * whose behalf. Made anew for each; nothing is taken over from the headers that the caller sent.
 *
 * @throws ApiError 403 when it cannot be on behalf of this caller
 */
export function outboundHeaders(
  scope: Pick<Scope, "identity" | "hops" | "via" | "cluster" | "params">,
  how: OutboundIdentity,
): string[] {
  const { hops = 0, via } = scope;
  const as = outboundIdentity(how, scope.identity, scope);
  return [
    ...[HOPS_HEADER, String(hops + 1)],
    ...(via === undefined ? [] : ["Via", via]),
    ...(as === undefined ? [] : impersonationHeaders(as)),
  ];
}
