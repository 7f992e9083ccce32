import type { ServerResponse } from "node:http";
import type { ApiError, Status, StatusDetails } from "@virtual-workspaces/apimachinery";
import { cborDocument } from "./cbor.ts";
import { type AnswerFormat, prefersCbor } from "./representation.ts";
import { yamlOf } from "./yaml.ts";

/** Complete body to write. */
export interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Caches must not store a response unless it allows that. `Audit-Id` is set in the first stage. */
const UNCACHED = { "Cache-Control": "no-cache, private" } as const;

/** Status objects of responses, for the audit log, which cannot read them from the response. */
const statuses = new WeakMap<ServerResponse, Partial<Status>>();
const documents = new WeakMap<ServerResponse, () => Buffer>();

/** Returns the Status of a response, if it was one. */
export function statusOf(res: ServerResponse): Partial<Status> | undefined {
  return statuses.get(res);
}

/** Sets how to make the JSON of a document that is sent in another format, for the audit log. */
export function keepJson(res: ServerResponse, json: () => Buffer): void {
  documents.set(res, json);
}

/** Returns the JSON of a document that was sent in another format. */
export function jsonOf(res: ServerResponse): Buffer | undefined {
  return documents.get(res)?.();
}

/** Writes a complete body; all responses use it. HEAD gets only the headers. */
export function respond(res: ServerResponse, answer: Answer): void {
  const { code, contentType, body } = answer;
  const headers = {
    ...UNCACHED,
    ...answer.headers,
    "Content-Type": contentType,
    "Content-Length": body.length,
  };
  res.writeHead(code, headers);
  if (res.req.method === "HEAD") res.end();
  else endWith(res, body);
}

/** Largest body that is written as text, in bytes. */
const SMALL = 8 * 1024;

/**
 * Ends a response with its whole body. Node.js joins a head with a body that is text, and writes bytes beside it, for a tenth more of
 * CPU. A response without a connection of its own, such as one within the process, gets the bytes.
 */
export function endWith(res: ServerResponse, body: Buffer): void {
  const isText = body.length > 0 && body.length <= SMALL && res.socket !== null && res.req.httpVersionMajor === 1;
  if (isText) res.end(body.toString("latin1"), "latin1");
  else res.end(body);
}

/** Writes JSON, or the same document as YAML or CBOR. */
export function respondDocument(
  res: ServerResponse,
  {
    json,
    format,
    ...answer
  }: Pick<Answer, "code" | "headers"> & { readonly json: Buffer; readonly format: AnswerFormat },
): void {
  if (format !== "json") keepJson(res, () => json);
  const body = format === "json" ? json : format === "yaml" ? yamlOf(json) : cborDocument(json);
  respond(res, { ...answer, contentType: `application/${format}`, body });
}

/** Writes a Status for an error; all error responses use it. */
export function respondStatus(res: ServerResponse, error: ApiError): void {
  statuses.set(res, error.status);
  const retry = error.status.details?.retryAfterSeconds;
  const headers: Record<string, string> = {};
  if (retry !== undefined && retry > 0) headers["Retry-After"] = String(retry);
  if (error.code === 401) headers["WWW-Authenticate"] = "Bearer";
  const json = Buffer.from(`${JSON.stringify(error.status)}\n`);
  const format = prefersCbor(res.req?.headers.accept) ? "cbor" : "json";
  respondDocument(res, { code: error.code, json, format, headers });
}

/** Writes the Status of a successful call that returns no object, such as a delete or an action subresource. */
export function respondSuccess(
  res: ServerResponse,
  success: { readonly code?: 200 | 201; readonly details: StatusDetails; readonly format: AnswerFormat },
): void {
  const { code = 200, details, format } = success;
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } as const;
  statuses.set(res, status);
  respondDocument(res, { code, json: Buffer.from(`${JSON.stringify(status)}\n`), format });
}

/** Starts a body that is written in pieces. Headers are flushed at once: Go's `Watch()` blocks until they arrive. */
export function startStream(res: ServerResponse, contentType: string, length?: number): void {
  const size = length === undefined ? {} : { "Content-Length": length };
  res.writeHead(200, { ...UNCACHED, "Content-Type": contentType, ...size });
  if (length === undefined) res.flushHeaders();
}

/** Limit of all warnings of a response, in code points, beyond which they are truncated as in Kubernetes. */
const ALL = 4096;
/** Length of each truncated warning, in code points. */
const EACH = 256;

/** `Warning` headers of one response. Each text occurs once, and their size is limited so that clients accept the headers. */
export class Warnings {
  readonly #res: ServerResponse;
  readonly #texts = new Set<string>();
  #written = 0;
  #cutting = false;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  add(text: string): void {
    if (text === "" || this.#texts.has(text) || (this.#cutting && this.#written >= ALL)) return;
    this.#texts.add(text);
    if (!this.#cutting && this.#written + lengthOf(text) > ALL) this.#startCutting();
    else this.#write(text);
  }

  #startCutting(): void {
    this.#cutting = true;
    this.#written = 0;
    this.#res.removeHeader("Warning");
    for (const text of this.#texts) this.#write(text);
  }

  #write(text: string): void {
    const shown = this.#cutting ? [...text].slice(0, EACH).join("") : text;
    this.#written += lengthOf(shown);
    this.#res.appendHeader("Warning", `299 - "${quoted(shown)}"`);
  }
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** Header values are UTF-8 on the wire, and Latin-1 in Node. */
function quoted(text: string): string {
  const safe = text.replace(/\p{Cc}/gu, "?").replace(/["\\]/g, (mark) => `\\${mark}`);
  return Buffer.from(safe, "utf8").toString("latin1");
}
