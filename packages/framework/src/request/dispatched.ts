import type { RawRequest } from "./raw-request.ts";
import type { User } from "./user.ts";

/** Request that a server of the same process has authorized, with what headers would state between processes. */
export interface DispatchedRequest
  extends Pick<
    RawRequest<unknown>,
    "requestId" | "user" | "token" | "hops" | "via" | "signal" | "ending" | "takeTime"
  > {
  /** Path and query, in place of the request's own. */
  readonly target: string;
  /** User of the dispatching server, who impersonates {@link RawRequest.user}: both are in the audit log. */
  readonly impersonator: User;
  /** The same impersonation as flat pairs, for a view that forwards it ({@link VirtualWorkspace.passesImpersonation}). */
  readonly impersonation: readonly string[];
}
