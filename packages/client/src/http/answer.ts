import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { ApiError, isApiError, isJsonObject, type Status, statusFrom } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { header, type StreamedResponse, TransportError } from "@virtual-workspaces/transport";

const inflate = promisify(gunzip);

/** The whole body of an answer, unpacked: bounded on the wire and in memory. */
export interface BodyOptions {
  /** `GET https://host/path`. */
  readonly what: string;
  /** The most bytes, packed and unpacked. */
  readonly limit: number;
}

/** @throws TransportError `tooLarge`; `malformed` on what cannot be unpacked; what reading it throws */
export async function bodyOf(answer: StreamedResponse, { what, limit }: BodyOptions): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of answer.body) {
    length += piece.length;
    if (length > limit) throw tooLarge(what, limit);
    pieces.push(piece);
  }
  const [first] = pieces;
  const body = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
  const encoding = header(answer.headers, "content-encoding")?.toLowerCase() ?? "identity";
  if (encoding === "identity" || body.length === 0) return body;
  if (encoding !== "gzip" && encoding !== "x-gzip")
    throw malformed(what, `the answer is encoded as ${JSON.stringify(encoding)}, which was not asked for`);
  try {
    return await inflate(body, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(what, limit);
    throw malformed(what, "the answer says that it is gzip, and is not");
  }
}

export function malformed(what: string, text: string): TransportError {
  return new TransportError("malformed", `${what}: ${text}`, { delivered: true });
}

function tooLarge(what: string, limit: number): TransportError {
  return new TransportError("tooLarge", `${what}: the answer is longer than ${limit} bytes: list in pages, by limit`, {
    delivered: true,
  });
}

/** The longest body of an error that is read, bytes. */
const LONGEST = 1024 * 1024;
/** How much of a body that is no Status is shown, characters. */
const SHOWN = 200;

/**
 * What an answer that is no success comes to: the server's own Status, whole; of anything else (the page of a proxy, nothing,
 * what cannot be read) one with its code. Ends the answer. `Retry-After` becomes `details.retryAfterSeconds` where the Status has none.
 */
export async function errorOf(answer: StreamedResponse, what: string): Promise<ApiError> {
  const text = await errorText(answer, what);
  const status = statusIn(text) ?? madeUp(answer.status, { what, text });
  const seconds = retryAfterSeconds(header(answer.headers, "retry-after"));
  if (seconds === undefined || status.details?.retryAfterSeconds !== undefined) return new ApiError(status);
  return new ApiError({ ...status, details: { ...status.details, retryAfterSeconds: seconds } });

  function statusIn(body: string): Status | undefined {
    const parsed = body === "" ? undefined : jsonOf(body);
    if (!isJsonObject(parsed) || parsed["kind"] !== "Status" || typeof parsed["message"] !== "string") return undefined;
    // Some servers leave the code out, or have another one in the body: the one in front counts.
    return { ...statusFrom(parsed, { code: answer.status, message: "" }), code: answer.status };
  }
}

/** How long a server asks to wait before the next attempt (`Retry-After`), ms; 0 where it does not say. */
export function retryAfterOf(error: unknown): number {
  const seconds = isApiError(error) ? (error.status.details?.retryAfterSeconds ?? 0) : 0;
  return Math.max(0, seconds * 1000);
}

/** Whole seconds, from a number of them or an HTTP date; `undefined` of anything else. */
function retryAfterSeconds(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value);
  if (!/^[A-Z][a-z]{2,8},? /.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}

/** "" of what is too long, or cannot be read. */
async function errorText(answer: StreamedResponse, what: string): Promise<string> {
  try {
    return (await bodyOf(answer, { what, limit: LONGEST })).toString("utf8");
  } catch {
    return "";
  } finally {
    await answer[Symbol.asyncDispose]();
  }
}

function jsonOf(text: string): unknown {
  try {
    return parseOwnJson(text);
  } catch {
    return undefined;
  }
}

function madeUp(code: number, { what, text }: { readonly what: string; readonly text: string }): Status {
  // Control characters could make a line of a log, or a terminal, say something else.
  const shown = text
    .slice(0, SHOWN)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const rest = shown === "" ? "" : `: ${shown}${text.length > SHOWN ? " …" : ""}`;
  const message = `${what}: answered ${code} without a Status${rest}`;
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code };
}

/** Handles API errors of one code: `get(name).catch(onCode(404, () => undefined))`. Other errors are thrown again. */
export function onCode<T>(code: number, otherwise: () => T): (error: unknown) => T {
  return (error) => {
    if (isApiError(error) && error.code === code) return otherwise();
    throw error;
  };
}
