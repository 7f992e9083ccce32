import { ApiError, isErrorCode, isJsonObject, type Status, statusFrom } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { type AskedUpstream, lostWrite, upstreamFault } from "@virtual-workspaces/framework/proxy";
import { type BytesContext, EncodedBytes } from "@virtual-workspaces/framework/storage";
import {
  header,
  type ResponseHeaders,
  type StreamedResponse,
  type WholeResponse,
  warningsOf,
} from "@virtual-workspaces/transport";

/** As much of an answer that is an error is read, bytes. */
const LONGEST_ERROR = 1024 * 1024;
const LINE_FEED = 10;
/** When it is to come again at the latest that the other server may say in a header, s. */
const LONGEST_RETRY = 999_999;
const BEGINNING = 256;

/** What was asked of the other server. */
export interface UpstreamRequest extends AskedUpstream {
  /** Whether it may lack the kind for good, as a kcp whose workspaces have not bound it. @default false */
  readonly isEmptyUnserved?: boolean;
}

/** @throws ApiError when an answer is no JSON, as of a proxy that says that something is wrong with a 200 */
export function checkJson(headers: ResponseHeaders, { origin, writes = false }: UpstreamRequest): void {
  const type = header(headers, "content-type") ?? "";
  if (type.startsWith("application/json")) return;
  const make = writes ? lostWrite : upstreamFault;
  throw make(origin, `answered ${JSON.stringify(type.slice(0, 60))} instead of JSON`);
}

/** An answer that is one object, unread. */
export function objectOf(body: Buffer, context: BytesContext): EncodedBytes {
  return new EncodedBytes(body.at(-1) === LINE_FEED ? body.subarray(0, -1) : body, context);
}

/** Hands on what the other server has to say to people. */
export function passWarnings(headers: ResponseHeaders, warn: (text: string) => void): void {
  for (const text of warningsOf(headers)) warn(text);
}

/** What an answer comes to that is no success and has only begun. Reads no more of it than an error may have. */
export async function streamedError(answer: StreamedResponse, asked: UpstreamRequest): Promise<Error> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of answer.body) {
      pieces.push(piece);
      length += piece.length;
      if (length > LONGEST_ERROR) break;
    }
  } catch (error) {
    return upstreamFault(asked.origin, `answered ${answer.status} and broke off`, { cause: error });
  }
  return answeredError({ status: answer.status, headers: answer.headers, body: Buffer.concat(pieces) }, asked);
}

/**
 * What an answer that is no success comes to: the other server's own Status, whole. One that says that it does not know us
 * is about our credentials, which the client can do nothing about, and which are renewed.
 */
export function answeredError(answer: WholeResponse, asked: UpstreamRequest): ApiError {
  const { status: code, headers, body } = answer;
  if (code === 401 || code === 407) {
    const what = "does not take the credentials of this one: whoever runs this one has to renew them";
    return upstreamFault(asked.origin, what);
  }
  if (asked.isEmptyUnserved === true && hasNoPath(answer)) return ApiError.notFoundPath();
  const retry = Number(header(headers, "retry-after"));
  const told = isErrorCode(code) ? statusIn(body) : undefined;
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
function unexplained(
  code: number,
  later: Pick<Status, "details">,
  { origin, writes = false }: UpstreamRequest,
): ApiError {
  const what = `answered ${code}, and not as an API server does`;
  if (!writes || code < 400 || code === 503) return upstreamFault(origin, what);
  if (code >= 500) return lostWrite(origin, what);
  const message = `the server behind this view ${what}`;
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...later, message, code });
}

/** The Status that another server answered; `undefined` when the body is none. */
export function statusIn(body: Buffer): Status | undefined {
  try {
    const parsed = parseOwnJson(body.toString("utf8"));
    return isJsonObject(parsed) && parsed["kind"] === "Status" ? statusFrom(parsed) : undefined;
  } catch {
    return undefined;
  }
}

/** What an answer must be. */
export interface ExpectedKind {
  readonly kind: string;
  readonly apiVersion: string;
}

/** Whether the kind stands at the beginning, where servers write it: then nothing more needs to be looked at. */
export function beginsWithKind(bytes: Buffer, { kind, apiVersion }: ExpectedKind): boolean {
  const beginning = bytes.toString("latin1", 0, Math.min(BEGINNING, bytes.length));
  const [saidKind, saidVersion] = [`"kind":"${kind}"`, `"apiVersion":"${apiVersion}"`];
  return beginning.startsWith(`{${saidKind},${saidVersion},`) || beginning.startsWith(`{${saidVersion},${saidKind},`);
}

/** Whether a body is of the kind, however it is written. */
export function saysKind(bytes: Buffer, expected: ExpectedKind): boolean {
  if (beginsWithKind(bytes, expected)) return true;
  try {
    const object = parseOwnJson(bytes.toString("utf8"));
    return isJsonObject(object) && object["kind"] === expected.kind && object["apiVersion"] === expected.apiVersion;
  } catch {
    return false;
  }
}
