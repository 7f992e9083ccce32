import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { isTransportError } from "@virtual-workspaces/transport";

/** A request to an upstream that failed. */
export interface AskedUpstream {
  /** Origin of the upstream: `https://host:6443`. */
  readonly origin: string;
  /** Whether the request may have taken effect without a response. @default false */
  readonly writes?: boolean;
}

/** `Retry-After` of a failed request, s. */
const RETRY_AFTER = 1;
const LOOK = "the request may or may not have taken effect; check before you retry";

/**
 * Returns a 503: the upstream is unreachable or its response is invalid, and nothing was changed. Clients do not see the
 * address; the `cause`, for the operator, names it.
 */
export function upstreamFault(origin: string, what: string, { cause }: ErrorOptions = {}): ApiError {
  const { status } = ApiError.serviceUnavailable(`the server behind this view ${what}`, RETRY_AFTER);
  return new ApiError(status, { cause: causeOf(origin, what, cause) });
}

/**
 * Returns a 504 for a write that may have taken effect: the client must check. It has no `Retry-After`, which would make
 * clients retry by themselves.
 */
export function lostWrite(origin: string, what: string, { cause }: ErrorOptions = {}): ApiError {
  const { status } = ApiError.timeout(`the server behind this view ${what}: ${LOOK}`, 0);
  return new ApiError(status, { cause: causeOf(origin, what, cause) });
}

function causeOf(origin: string, what: string, cause: unknown): Error {
  return isTransportError(cause) ? cause : new Error(`${origin} ${what}`, { cause });
}

const SAID: Readonly<Record<string, string>> = {
  connect: "cannot be reached; try again",
  tls: "cannot be trusted",
  timeout: "did not answer in time",
  reset: "closed the connection before the response was complete",
  malformed: "sent a response that is not valid HTTP",
  tooLarge: "sent a response larger than the limit",
  closed: "is closed to new requests",
};

/** Converts an upstream failure: a `TransportError` to an `ApiError` 503 or 504; any other error is returned unchanged. */
export function upstreamFailure(error: unknown, { origin, writes = false }: AskedUpstream): unknown {
  if (isApiError(error) || !isTransportError(error)) return error;
  const make = writes && error.delivered ? lostWrite : upstreamFault;
  return make(origin, SAID[error.code] ?? "failed", { cause: error });
}

/** Returns the cause for the operator, which names the upstream. `undefined`: the error is not about the upstream. */
export function causeOfFault(error: unknown): unknown {
  return isApiError(error) ? error.cause : undefined;
}
