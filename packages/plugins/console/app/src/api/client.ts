import { signal } from "@preact/signals";
import { texts } from "../texts.ts";
import { actingHeaders } from "./acting-text.ts";
import { apiUrl, type Parameters } from "./base.ts";
import type { Status } from "./types.ts";

/** Error that the server answered with a Status, or that kept the request from it (code 0). */
export class StatusError extends Error {
  override readonly name = "StatusError";
  /** HTTP status; 0 if the server did not answer. */
  readonly code: number;
  readonly reason: string;
  readonly status: Status;

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? String(status.code ?? ""), options);
    this.code = status.code ?? 0;
    this.reason = status.reason ?? "";
    this.status = status;
  }

  /** True if the same request may succeed later without a change. */
  get isTransient(): boolean {
    return this.code === 0 || this.code === 408 || this.code === 429 || this.code >= 500;
  }
}

export const isStatusError = (error: unknown): error is StatusError => error instanceof StatusError;

/** The error as a StatusError, with a message for readers. */
export function asStatusError(error: unknown): StatusError {
  if (isStatusError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StatusError({ kind: "Status", code: 0, reason: "Unknown", message }, { cause: error });
}

/** Counts answers with 401: the session has ended. The session module reads it. */
export const unauthorizedAnswers = signal(0);

/** Media type that asks for a Table, with the object itself where a server has no Tables. */
export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/** Media type of objects without their managed fields, often half of their bytes, where a server can leave them out. */
export const SLIM = "application/json;drop=metadata.managedFields,application/json";

/** The same with metadata alone in place of a list's objects. */
export const METADATA = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io;drop=metadata.managedFields,${SLIM}`;

export interface RequestOptions {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly parameters?: Parameters;
  readonly accept?: string;
  /** Sent as JSON, a string as it is. */
  readonly body?: unknown;
  /** Media type of the body. Default: `application/json`. */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /** For pages of the server itself: a front proxy may not know a token that its shards know, and its 401 does not end the session. */
  readonly keepsSession?: boolean;
}

/** Sends a request to the API. Throws a StatusError, or an AbortError of the signal. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, contentType = "application/json", accept = "application/json", signal } = options;
  const headers: Record<string, string> = {
    Accept: accept,
    "X-Requested-With": "virtual-workspaces-console",
    ...actingHeaders(),
  };
  if (body !== undefined) headers["Content-Type"] = contentType;
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  let response: Response;
  try {
    response = await fetch(apiUrl(path, options.parameters), {
      method,
      headers,
      credentials: "same-origin",
      redirect: "follow",
      cache: "no-store",
      ...(text !== undefined && { body: text }),
      ...(signal !== undefined && { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    const status = { kind: "Status", code: 0, reason: "Unreachable", message: texts.errors.unreachable } as const;
    throw new StatusError(status, { cause: error });
  }
  if (!response.ok) throw await statusOf(response, options.keepsSession);
  return response;
}

/** Sends a request and parses the body. Undefined for 204. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options);
  if (response.status === 204) return undefined as T;
  try {
    return (await response.json()) as T;
  } catch (error) {
    options.signal?.throwIfAborted();
    const status = { kind: "Status", code: 0, reason: "BadAnswer", message: texts.errors.notJson } as const;
    throw new StatusError(status, { cause: error });
  }
}

async function statusOf(response: Response, keepsSession = false): Promise<StatusError> {
  const code = response.status;
  const text = await response.text().catch(() => "");
  // A server that serves anonymous users too answers with 403 once the session has ended.
  const isUnknown = code === 401 || (code === 403 && text.includes("system:anonymous"));
  if (isUnknown && !keepsSession) unauthorizedAnswers.value += 1;
  try {
    const status = JSON.parse(text) as Status;
    if (status.kind === "Status") return new StatusError({ ...status, code });
  } catch {
    // A proxy on the way answers with a text or a page.
  }
  const message = text !== "" && !text.startsWith("<") && text.length < 500 ? text.trim() : texts.errors.http(code);
  return new StatusError({ kind: "Status", code, reason: response.statusText, message });
}
