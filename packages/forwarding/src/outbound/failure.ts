import { ApiError, isErrorCode, type Status } from "@virtual-workspaces/apimachinery";
import { type AskedUpstream, lostWrite, upstreamFault } from "@virtual-workspaces/framework";
import { header, type WholeResponse } from "@virtual-workspaces/transport";
import { toldStatus } from "./told-status.ts";

/** What was asked of the other server. */
export interface Asked extends AskedUpstream {
  /** Whether it may lack the kind for good, as a kcp whose workspaces have not bound it. @default false */
  readonly isEmptyUnserved?: boolean;
}

/** When it is to come again at the latest that the other server may say in a header, s. */
const LONGEST_RETRY = 999_999;

/**
 * What an answer that is no success comes to: the other server's own Status, whole. One that says that it does not know us
 * is about our credentials, which the client can do nothing about, and which are renewed.
 */
export function answeredError(answer: WholeResponse, asked: Asked): ApiError {
  const { status: code, headers, body } = answer;
  if (code === 401 || code === 407) {
    const what = "does not take the credentials of this one: whoever runs this one has to renew them";
    return upstreamFault(asked.origin, what);
  }
  if (asked.isEmptyUnserved === true && hasNoPath(answer)) return ApiError.notFoundPath();
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
 * Whether an API server has no such path: the only error that Kubernetes and kcp tell in text, of kinds that they do not
 * serve, and of all kinds of custom resources while they start. Proxies say the same of servers that they do not find, but
 * without the header of audit.
 */
function hasNoPath({ status, headers, body }: WholeResponse): boolean {
  return (
    status === 404 && header(headers, "audit-id") !== undefined && body.toString("latin1") === "404 page not found\n"
  );
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
