import { ApiError, isApiError, isErrorCode, type Status } from "@virtual-workspaces/apimachinery";
import { header, isTransportError, type WholeResponse } from "@virtual-workspaces/transport";
import { toldStatus } from "./told-status.ts";

/** What was asked of the other server. */
export interface Asked {
  /** `https://host:6443`. */
  readonly origin: string;
  /** Whether what was asked for may have been done though no answer tells of it. @default false */
  readonly writes?: boolean;
}

/** When a client is to come again whose answer could not be had, s. */
const RETRY_AFTER = 1;
/** When it is to come again at the latest that the other server may say in a header, s. */
const LONGEST_RETRY = 999_999;
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

/** What no answer comes to. */
export function upstreamFailure(error: unknown, { origin, writes = false }: Asked): unknown {
  if (isApiError(error) || !isTransportError(error)) return error;
  const make = writes && error.delivered ? lostWrite : upstreamFault;
  return make(origin, SAID[error.code] ?? "failed", { cause: error });
}

/**
 * What an answer that is no success comes to: the other server's own Status, whole. One that says that it does not know us
 * is about our credentials, which the client can do nothing about, and which are renewed.
 */
export function answeredError({ status: code, headers, body }: WholeResponse, asked: Asked): ApiError {
  if (code === 401 || code === 407) {
    const what = "does not take the credentials of this one: whoever runs this one has to renew them";
    return upstreamFault(asked.origin, what);
  }
  const retry = Number(header(headers, "retry-after"));
  const told = isErrorCode(code) ? toldStatus(body) : undefined;
  const { details } = told ?? {};
  const isTold =
    details?.retryAfterSeconds !== undefined || !Number.isInteger(retry) || retry <= 0 || retry > LONGEST_RETRY;
  const later = isTold ? {} : { details: { ...details, retryAfterSeconds: retry } };
  if (told !== undefined) return new ApiError({ ...told, ...later, code });
  return unexplained(code, later, asked);
}

/**
 * An error that is not as an API server says it, but a proxy before it. Of a read it is no news of any object, whatever its
 * code; of a write it says by its code whether it was done.
 */
function unexplained(code: number, later: Pick<Status, "details">, { origin, writes = false }: Asked): ApiError {
  const what = `answered ${code}, and not as an API server does`;
  if (!writes || code < 400 || code === 503) return upstreamFault(origin, what);
  if (code >= 500) return lostWrite(origin, what);
  const message = `the server behind this view ${what}`;
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...later, message, code });
}

/** What whoever runs this server is told of an error, which names the other server. `undefined`: it is none of ours to mend. */
export function causeOfFault(error: unknown): unknown {
  return isApiError(error) ? error.cause : undefined;
}
