import {
  ApiError,
  isApiError,
  isJsonObject,
  parseOwnJson,
  type Status,
  statusFrom,
} from "@virtual-workspaces/apimachinery";
import { header, type StreamedResponse } from "@virtual-workspaces/transport";
import { bodyOf } from "./body.ts";

/** The longest body of an error that is read, bytes. */
const LONGEST = 1024 * 1024;
/** How much of a body that is no Status is shown, characters. */
const SHOWN = 200;

/**
 * What an answer that is no success comes to: the server's own Status, whole; of anything else (the page of a proxy, nothing,
 * what cannot be read) one with its code. Ends the answer. `Retry-After` becomes `details.retryAfterSeconds` where the Status has none.
 */
export async function errorOf(answer: StreamedResponse, what: string): Promise<ApiError> {
  const text = await textOf(answer, what);
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
export function retryAfterSeconds(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value);
  if (!/^[A-Z][a-z]{2,8},? /.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}

/** "" of what is too long, or cannot be read. */
async function textOf(answer: StreamedResponse, what: string): Promise<string> {
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
