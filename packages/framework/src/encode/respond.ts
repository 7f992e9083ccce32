import type { ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { ApiError, Status, StatusDetails } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";

/** A body to be written whole. */
export interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Nothing may be kept by a cache unless the answer says so. `Audit-Id` stands in the response from the first stage on. */
const UNCACHED = { "Cache-Control": "no-cache, private" } as const;

/** What answers say that cannot be read off them: for audit. */
const statuses = new WeakMap<ServerResponse, Partial<Status>>();
const documents = new WeakMap<ServerResponse, Buffer>();

/** The Status that was answered, if it was one. */
export function statusOf(res: ServerResponse): Partial<Status> | undefined {
  return statuses.get(res);
}

/** The JSON of what was answered as YAML. */
export function jsonOf(res: ServerResponse): Buffer | undefined {
  return documents.get(res);
}

/** The one place that writes a whole body. HEAD gets the headers alone. */
export function respond(res: ServerResponse, answer: Answer): void {
  const { code, contentType, body } = answer;
  const headers = {
    ...UNCACHED,
    ...answer.headers,
    "Content-Type": contentType,
    "Content-Length": body.length,
  };
  res.writeHead(code, headers);
  res.end(res.req.method === "HEAD" ? undefined : body);
}

/** JSON, or the same as YAML. */
export function respondDocument(
  res: ServerResponse,
  document: { readonly code: number; readonly json: Buffer; readonly format: "json" | "yaml" },
): void {
  if (document.format === "yaml") {
    documents.set(res, document.json);
    respond(res, { code: document.code, contentType: "application/yaml", body: yamlOf(document.json) });
  } else respond(res, { code: document.code, contentType: "application/json", body: document.json });
}

/** The one place that writes a Status. */
export function respondStatus(res: ServerResponse, error: ApiError): void {
  statuses.set(res, error.status);
  const retry = error.status.details?.retryAfterSeconds;
  const headers: Record<string, string> = {};
  if (retry !== undefined && retry > 0) headers["Retry-After"] = String(retry);
  if (error.code === 401) headers["WWW-Authenticate"] = "Bearer";
  respond(res, {
    code: error.code,
    contentType: "application/json",
    body: Buffer.from(`${JSON.stringify(error.status)}\n`),
    headers,
  });
}

/** The one place that writes the Status of something done that leaves no object behind: a delete, a subresource that only does something. */
export function respondSuccess(
  res: ServerResponse,
  success: { readonly code?: 200 | 201; readonly details: StatusDetails; readonly format: "json" | "yaml" },
): void {
  const { code = 200, details, format } = success;
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } as const;
  statuses.set(res, status);
  respondDocument(res, { code, json: Buffer.from(`${JSON.stringify(status)}\n`), format });
}

/** Starts a body that is written piece by piece. Headers are flushed at once: Go's `Watch()` blocks until they come. */
export function startStream(res: ServerResponse, contentType: string, length?: number): void {
  const size = length === undefined ? {} : { "Content-Length": length };
  res.writeHead(200, { ...UNCACHED, "Content-Type": contentType, ...size });
  if (length === undefined) res.flushHeaders();
}

/** Go's YAML reads `yes` and `012` as YAML 1.1 does: texts like these must be quoted for it. */
const STYLE = { aliasDuplicateObjects: false, lineWidth: 0, version: "1.1" } as const;

/** YAML of a JSON document, as Kubernetes' own serializer writes it: keys in their order, no anchors, no folding. */
export function yamlOf(json: Buffer): Buffer {
  // Loaded when first asked for: most servers never are.
  const { stringify } = createRequire(import.meta.url)("yaml") as typeof import("yaml");
  return Buffer.from(stringify(parseOwnJson(json.toString("utf8")), STYLE));
}

/** Code points that all warnings of an answer may have together before they are cut, as Kubernetes does. */
const ALL = 4096;
/** And each of them, once they are. */
const EACH = 256;

/** The `Warning` headers of one answer: each text once, and never so many that a client refuses the header block. */
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

/** Header values are UTF-8 on the wire, and Latin-1 to Node. */
function quoted(text: string): string {
  const safe = text.replace(/\p{Cc}/gu, "?").replace(/["\\]/g, (mark) => `\\${mark}`);
  return Buffer.from(safe, "utf8").toString("latin1");
}
