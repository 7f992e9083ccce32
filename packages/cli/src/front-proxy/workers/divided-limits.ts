import type { AuthenticationFailureLimits, RequestLimits } from "@virtual-workspaces/framework/server";

/** Largest number of workers by which limits are divided: all requests of one connection reach one worker. */
const MOST = 8;
/** Defaults of a server that serves alone. */
const ALONE: Required<
  Pick<RequestLimits, "inFlight" | "queue" | "queuePerUser" | "longRunning" | "longRunningPerUser">
> = { inFlight: 400, queue: 2000, queuePerUser: 500, longRunning: 20_000, longRunningPerUser: 5000 };
const PENDING = 100;

/** Returns the limits of one of several workers, which together admit what one process does, up to eight workers. */
export function dividedLimits(workers: number): RequestLimits {
  const by = Math.min(workers, MOST);
  return Object.fromEntries(Object.entries(ALONE).map(([name, limit]) => [name, Math.ceil(limit / by)]));
}

/** Returns the limits on failed authentications: failures count at all workers, and those under way are divided. */
export function sharedFailures(
  limits: AuthenticationFailureLimits | undefined,
  { workers, onFailure }: { readonly workers: number } & Required<Pick<AuthenticationFailureLimits, "onFailure">>,
): AuthenticationFailureLimits {
  return { ...limits, pending: Math.ceil((limits?.pending ?? PENDING) / workers), onFailure };
}
