import { impersonationHeaders } from "@virtual-workspaces/client";
import type { Scope } from "@virtual-workspaces/framework";
import { type OutboundIdentity, outboundIdentity } from "./identity.ts";

/** The header that counts servers which have passed a request on (kcp's `hops.HeaderName`). */
export const HOPS_HEADER = "X-Kcp-Virtual-Resource-Hops";

/** What every request to another server says, as flat pairs: on whose behalf, and through how many servers it has come. */
export function outboundHeaders(scope: Pick<Scope, "identity" | "hops">, how: OutboundIdentity): string[] {
  const as = outboundIdentity(how, scope.identity);
  return [HOPS_HEADER, String((scope.hops ?? 0) + 1), ...(as === undefined ? [] : impersonationHeaders(as))];
}
