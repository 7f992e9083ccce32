import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { isTransportError } from "@virtual-workspaces/transport";

/** What was asked of another server. */
export interface AskedUpstream {
  /** `https://host:6443`. */
  readonly origin: string;
  /** Whether what was asked for may have been done though no answer tells of it. @default false */
  readonly writes?: boolean;
}

/** When a client is to come again whose answer could not be had, s. */
const RETRY_AFTER = 1;
const LOOK = "what was asked for may have been done or not. Look before you try again";

/**
 * 503: the other server cannot be asked, or answers what is no answer; nothing was done. Clients are not told where it is:
 * the `cause` is for whoever runs this server, and names it.
 */
export function upstreamFault(origin: string, what: string, { cause }: ErrorOptions = {}): ApiError {
  const { status } = ApiError.serviceUnavailable(`the server behind this view ${what}`, RETRY_AFTER);
  return new ApiError(status, { cause: causeOf(origin, what, cause) });
}

/**
 * 504: a write that may have been done, which nobody knows who has not looked. Without `Retry-After`, on which clients
 * would send it once more by themselves.
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
  reset: "ended the connection before its answer was whole",
  malformed: "answered what is no HTTP",
  tooLarge: "answered more than is taken",
  closed: "is not asked any more",
};

/** What no answer of another server comes to: a `TransportError` to an `ApiError` 503 or 504, anything else to itself. */
export function upstreamFailure(error: unknown, { origin, writes = false }: AskedUpstream): unknown {
  if (isApiError(error) || !isTransportError(error)) return error;
  const make = writes && error.delivered ? lostWrite : upstreamFault;
  return make(origin, SAID[error.code] ?? "failed", { cause: error });
}

/** What whoever runs this server is told of an error, which names the other server. `undefined`: it is none of ours to mend. */
export function causeOfFault(error: unknown): unknown {
  return isApiError(error) ? error.cause : undefined;
}
