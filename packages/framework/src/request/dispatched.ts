import type { Cancellation } from "@virtual-workspaces/transport";
import type { RawRequest } from "./raw-request.ts";
import type { User } from "./user.ts";

/** Request that a server of the same process has authorized, with what headers would state between processes. */
export interface DispatchedRequest
  extends Pick<RawRequest<unknown>, "requestId" | "user" | "hops" | "via" | "signal" | "ending" | "takeTime"> {
  /** Ends the request as `signal` does. @default only the signal */
  readonly cancellation?: Cancellation | undefined;
  /** Path and query, in place of the request's own. */
  readonly target: string;
  /** Bearer token of the caller, for a view that takes it. Security: its holder can do what the caller may. */
  readonly token: string | undefined;
  /** User of the dispatching server, who impersonates the caller: both are in the audit log. */
  readonly impersonator: User;
  /** The same impersonation as flat pairs, for a view that forwards impersonation. */
  readonly impersonation: readonly string[];
}
