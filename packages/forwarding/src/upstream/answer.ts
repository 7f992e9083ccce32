import {
  ApiError,
  isErrorCode,
  isJsonObject,
  type Status,
  statusFrom,
  WILDCARD,
} from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { type AskedUpstream, lostWrite, upstreamFault } from "@virtual-workspaces/framework/proxy";
import { type BytesContext, type Encoded, EncodedBytes } from "@virtual-workspaces/framework/storage";
import {
  header,
  type ResponseHeaders,
  type StreamedResponse,
  type WholeResponse,
  warningsOf,
} from "@virtual-workspaces/transport";

/** Maximum size of an error to read, in bytes. */
const LONGEST_ERROR = 1024 * 1024;
const LINE_FEED = 10;
/** Maximum `Retry-After` to forward, in seconds. */
const LONGEST_RETRY = 999_999;
const BEGINNING = 256;

/** Request to the upstream. */
export interface UpstreamRequest extends AskedUpstream {
  /** Whether the upstream may never serve the kind, such as a kcp without a workspace that binds it. @default false */
  readonly isEmptyUnserved?: boolean;
}

/** @throws ApiError if the response is not JSON, such as an error page of a proxy with code 200 */
export function checkJson(headers: ResponseHeaders, { origin, writes = false }: UpstreamRequest): void {
  const type = header(headers, "content-type") ?? "";
  if (type.startsWith("application/json")) return;
  const make = writes ? lostWrite : upstreamFault;
  throw make(origin, `answered ${JSON.stringify(type.slice(0, 60))} instead of JSON`);
}

/** Returns the object in a response, undecoded. @param object as a server of the same process has it */
export function objectOf(body: Buffer, context: BytesContext, object?: unknown): EncodedBytes {
  // The context of all logical clusters reads the one of the object from its bytes.
  if (isEncodedIn(object, body) && context.scope.cluster !== WILDCARD) return EncodedBytes.known(object, context);
  return new EncodedBytes(body.at(-1) === LINE_FEED ? body.subarray(0, -1) : body, context);
}

function isEncodedIn(object: unknown, body: Buffer): object is Encoded {
  return typeof object === "object" && object !== null && "bytes" in object && object.bytes === body;
}

/** Forwards warnings of the upstream. */
export function passWarnings(headers: ResponseHeaders, warn: (text: string) => void): void {
  for (const text of warningsOf(headers)) warn(text);
}

/** Returns the error of an unsuccessful stream. Reads at most the maximum size of an error. */
export async function streamedError(answer: StreamedResponse, request: UpstreamRequest): Promise<Error> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of answer.body) {
      pieces.push(piece);
      length += piece.length;
      if (length > LONGEST_ERROR) break;
    }
  } catch (error) {
    return upstreamFault(request.origin, `answered ${answer.status} with an incomplete body`, { cause: error });
  }
  return answeredError({ status: answer.status, headers: answer.headers, body: Buffer.concat(pieces) }, request);
}

/**
 * Returns the error of an unsuccessful response: the upstream's Status. A 401 is about this server's credentials, which the
 * client cannot fix; they are renewed.
 */
export function answeredError(answer: WholeResponse, request: UpstreamRequest): ApiError {
  const { status: code, headers, body } = answer;
  if (code === 401 || code === 407) {
    const what = "rejected this server's credentials: renew those that this server sends to it";
    return upstreamFault(request.origin, what);
  }
  if (request.isEmptyUnserved === true && hasNoPath(answer)) return ApiError.notFoundPath();
  const retry = Number(header(headers, "retry-after"));
  const upstreamStatus = isErrorCode(code) ? statusIn(body) : undefined;
  const { details } = upstreamStatus ?? {};
  const isKnown =
    details?.retryAfterSeconds !== undefined || !Number.isInteger(retry) || retry <= 0 || retry > LONGEST_RETRY;
  const later = isKnown ? {} : { details: { ...details, retryAfterSeconds: retry } };
  if (upstreamStatus !== undefined) return new ApiError({ ...upstreamStatus, ...later, code });
  return unexplained(code, later, request);
}

/**
 * Returns whether an API server has no such path. Kubernetes and kcp report that as plain text, for kinds that they do not
 * serve, and for all custom resources during startup. A proxy without a backend does the same, but without the audit header.
 */
function hasNoPath({ status, headers, body }: WholeResponse): boolean {
  return (
    status === 404 && header(headers, "audit-id") !== undefined && body.toString("latin1") === "404 page not found\n"
  );
}

/**
 * Returns the error of a response that a proxy before the upstream sent. For a read it says nothing about the object; for a
 * write its code tells whether it may have been applied.
 */
function unexplained(
  code: number,
  later: Pick<Status, "details">,
  { origin, writes = false }: UpstreamRequest,
): ApiError {
  const what = `answered ${code}, but not as an API server does`;
  if (!writes || code < 400 || code === 503) return upstreamFault(origin, what);
  if (code >= 500) return lostWrite(origin, what);
  const message = `the server behind this view ${what}`;
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...later, message, code });
}

/** Returns the Status in a body, if any. */
export function statusIn(body: Buffer): Status | undefined {
  try {
    const parsed = parseOwnJson(body.toString("utf8"));
    return isJsonObject(parsed) && parsed["kind"] === "Status" ? statusFrom(parsed) : undefined;
  } catch {
    return undefined;
  }
}

/** Expected kind of a response. */
export interface ExpectedKind {
  readonly kind: string;
  readonly apiVersion: string;
}

/** Returns whether the kind is at the start, where servers write it, so that no parsing is needed. */
export function beginsWithKind(bytes: Buffer, { kind, apiVersion }: ExpectedKind): boolean {
  const beginning = bytes.toString("latin1", 0, Math.min(BEGINNING, bytes.length));
  const [saidKind, saidVersion] = [`"kind":"${kind}"`, `"apiVersion":"${apiVersion}"`];
  return beginning.startsWith(`{${saidKind},${saidVersion},`) || beginning.startsWith(`{${saidVersion},${saidKind},`);
}

/** Returns whether a body has the kind, in any notation. */
export function saysKind(bytes: Buffer, expected: ExpectedKind): boolean {
  if (beginsWithKind(bytes, expected)) return true;
  try {
    const object = parseOwnJson(bytes.toString("utf8"));
    return isJsonObject(object) && object["kind"] === expected.kind && object["apiVersion"] === expected.apiVersion;
  } catch {
    return false;
  }
}
