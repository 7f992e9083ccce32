import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { ApiError, isApiError, isJsonObject, type Status, statusFrom } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { header, type StreamedResponse, TransportError } from "@virtual-workspaces/transport";

const inflate = promisify(gunzip);

/** Options of {@link bodyOf}. */
export interface BodyOptions {
  /** Method and URL, for errors: `GET https://host/path`. */
  readonly what: string;
  /** Maximum size, compressed and decompressed, in bytes. */
  readonly limit: number;
}

/** Reads and decompresses a whole body. @throws TransportError `tooLarge`; `malformed` if decompression fails; errors of reading */
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
    throw malformed(what, `unexpected content encoding ${JSON.stringify(encoding)}: the request accepts only gzip`);
  try {
    return await inflate(body, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(what, limit);
    throw malformed(what, "the response is not valid gzip, which its content encoding names");
  }
}

export function malformed(what: string, text: string): TransportError {
  return new TransportError("malformed", `${what}: ${text}`, { delivered: true });
}

function tooLarge(what: string, limit: number): TransportError {
  return new TransportError(
    "tooLarge",
    `${what}: the response is longer than ${limit} bytes: set limit to list in pages`,
    {
      delivered: true,
    },
  );
}

/** Maximum size of an error's body to read, in bytes. */
const LONGEST = 1024 * 1024;
/** Maximum number of characters of a body that is no Status to show. */
const SHOWN = 200;

/**
 * Returns the error of an unsuccessful response: the server's Status, or one with its code if the body is anything else, such
 * as a proxy's page. Consumes the response. `Retry-After` becomes `details.retryAfterSeconds` if the Status has none.
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
    // Some servers omit the code or send another one in the body: the HTTP code counts.
    return { ...statusFrom(parsed, { code: answer.status, message: "" }), code: answer.status };
  }
}

/** Returns the delay of `Retry-After`, in ms; 0 without one. */
export function retryAfterOf(error: unknown): number {
  const seconds = isApiError(error) ? (error.status.details?.retryAfterSeconds ?? 0) : 0;
  return Math.max(0, seconds * 1000);
}

/** Returns whole seconds from a number or an HTTP date, else `undefined`. */
function retryAfterSeconds(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value);
  if (!/^[A-Z][a-z]{2,8},? /.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}

/** Returns "" if the body is too long or unreadable. */
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
  // Security: control characters could forge a log line or control a terminal.
  const shown = text
    .slice(0, SHOWN)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const rest = shown === "" ? "" : `: ${shown}${text.length > SHOWN ? " …" : ""}`;
  const message = `${what}: answered ${code} without a Status${rest}`;
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code };
}

/** Handles API errors of one code: `get(name).catch(onCode(404, () => undefined))`. Rethrows other errors. */
export function onCode<T>(code: number, otherwise: () => T): (error: unknown) => T {
  return (error) => {
    if (isApiError(error) && error.code === code) return otherwise();
    throw error;
  };
}
