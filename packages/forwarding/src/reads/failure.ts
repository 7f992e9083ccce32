import { ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { header, isTransportError, type StreamedResponse, type WholeResponse } from "@virtual-workspaces/transport";
import { isErrorCode, toldStatus } from "../outbound/told-status.ts";

/** When a client is to come again whose answer could not be had, s. */
const RETRY_AFTER = 1;
/** As much of an answer that is an error is read, bytes. */
const LONGEST_ERROR = 1024 * 1024;

/** 503, as Kubernetes' aggregator answers: what is wrong with the other server, which is named by its origin alone. */
export function upstreamFault(origin: string, what: string, options?: ErrorOptions): ApiError {
  const { status } = ApiError.serviceUnavailable(`the API server behind this one, ${origin}, ${what}`, RETRY_AFTER);
  return new ApiError(status, options);
}

const SAID: Readonly<Record<string, string>> = {
  connect: "cannot be reached",
  tls: "cannot be trusted",
  timeout: "did not answer in time",
  reset: "ended the connection before its answer was whole",
  malformed: "answered what is no HTTP",
  tooLarge: "answered more than is taken",
  closed: "is not asked any more",
};

/** What no answer comes to. */
export function upstreamFailure(error: unknown, origin: string): unknown {
  if (isApiError(error)) return error;
  if (isTransportError(error)) return upstreamFault(origin, SAID[error.code] ?? "failed", { cause: error });
  return error;
}

/**
 * What an answer that is no success comes to: the other server's own Status, whole. One that says that it does not know
 * us is about our credentials, not the client's.
 */
export function answeredError({ status, headers, body }: WholeResponse, origin: string): ApiError {
  if (status === 401 || status === 407)
    return upstreamFault(origin, "does not take the credentials that it is asked with");
  const told = isErrorCode(status) ? toldStatus(body) : undefined;
  if (told === undefined) return upstreamFault(origin, `answered ${status} without saying why`);
  const seconds = Number(header(headers, "retry-after"));
  const retry = told.details?.retryAfterSeconds === undefined && Number.isInteger(seconds) && seconds > 0;
  const details = retry ? { details: { ...told.details, retryAfterSeconds: seconds } } : {};
  return new ApiError({ ...told, code: status, ...details });
}

/** The same of an answer that has only begun. Reads no more of it than an error may have. */
export async function streamedError(answer: StreamedResponse, origin: string): Promise<ApiError> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of answer.body) {
      pieces.push(piece);
      length += piece.length;
      if (length > LONGEST_ERROR) break;
    }
  } catch (error) {
    return upstreamFault(origin, `answered ${answer.status} and broke off`, { cause: error });
  }
  return answeredError({ status: answer.status, headers: answer.headers, body: Buffer.concat(pieces) }, origin);
}
