import { ApiError } from "@virtual-workspaces/apimachinery";
import { header, isTransportError, type WholeResponse } from "@virtual-workspaces/transport";
import { isErrorCode, toldStatus } from "./told-status.ts";

/**
 * What a client is told when the other server has not answered a write. Where it never got it: 503, to be tried again.
 * Else it may have done it, which nobody knows who has not looked: 504, without `Retry-After`, on which clients would send
 * it once more by themselves. Neither says where the other server is.
 */
export function writeFailure(error: unknown): unknown {
  if (!isTransportError(error)) return error;
  const failure = error.delivered
    ? ApiError.timeout(
        "the server behind this view did not answer: what was asked for may have been done or not. Look before you try again",
        0,
      )
    : ApiError.serviceUnavailable("the server behind this view cannot be reached; try again", 1);
  return new ApiError(failure.status, { cause: error });
}

/** What another server refuses with: its Status as it stands, or one made of its code. */
export function answeredError(answer: Pick<WholeResponse, "status" | "headers" | "body">): ApiError {
  const { status: code, headers } = answer;
  if (code === 401 || code === 407) return notTaken();
  if (!isErrorCode(code)) return unlikely(`it answered ${code}, which is no answer to a write`);
  const status = toldStatus(answer.body);
  if (status === undefined) return unlikely(`it answered ${code}, and not as an API server does`, code);
  const retry = header(headers, "retry-after");
  const isTold = status.details?.retryAfterSeconds !== undefined || retry === undefined || !/^\d{1,6}$/.test(retry);
  if (isTold) return new ApiError({ ...status, code });
  return new ApiError({ ...status, code, details: { ...status.details, retryAfterSeconds: Number(retry) } });
}

/** It is us whom it does not know: the caller has logged in, and can do nothing about it. */
function notTaken(): ApiError {
  return ApiError.internalError(
    "the server behind this view does not take the credentials of this one: whoever runs this one has to renew them",
  );
}

function unlikely(what: string, code = 500): ApiError {
  const message = `the server behind this view: ${what}`;
  if (code < 500)
    return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code });
  if (code === 503) return ApiError.serviceUnavailable(message);
  return ApiError.internalError(message);
}
