import type { ServerResponse } from "node:http";
// Not by name: an older Node.js has no zstd, and would report that instead of its version.
import zlib from "node:zlib";
import { isJsonObject, type JsonObject, type ObjectMeta } from "@virtual-workspaces/apimachinery";
import { parseJson, parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { CBOR, readCbor } from "../../body/cbor/cbor-reader.ts";
import { jsonOf } from "../../encode/respond.ts";
import type { AuditAnnotations } from "../../storage.ts";
import type { ObservedRequest } from "../observer.ts";
import type { AuditDecision } from "./audit-rules.ts";
import type { Origin } from "./origin.ts";

/** A request with its audit record. */
export interface AuditedRequest extends ObservedRequest {
  /** Origin, read when the request began. */
  origin: Origin | undefined;
  audited: AuditRecord | undefined;
}

/** Data of one request for its audit events. */
export class AuditRecord implements AuditAnnotations {
  readonly decision: AuditDecision;
  /** Whether the request was admitted with guaranteed room for its events. */
  admitted = false;
  /** Common prefix of its events, once encoded. */
  head: string | undefined;
  /** Whether the response has ended for its handler, so that the last event is made. */
  complete = false;
  /** Annotations of its logical cluster, encoded, once that is known. */
  place: string | undefined;
  /** Metadata of the sent object: its name may be missing from the URL. */
  metadata: Partial<ObjectMeta> | undefined;
  /** Request object, JSON. */
  requestObject: string | undefined;
  /** Reason why objects are left out of the events: too long, or not JSON. */
  omitted: string | undefined;
  /** Annotations of admission. */
  annotations: Map<string, string> | undefined;
  #annotated = 0;
  readonly #limit: number;
  readonly #answer: Capture | undefined;

  /** @param limit characters of a recorded object */
  constructor(request: ObservedRequest, decision: AuditDecision, limit: number) {
    this.decision = decision;
    this.#limit = limit;
    const { isResource = false, longRunning = true } = request.info ?? {};
    if (decision.response && isResource && !longRunning) this.#answer = new Capture(request.res, limit);
  }

  annotate(key: string, value: string, level?: "Request"): void {
    if (level === "Request" && !this.decision.request) return;
    this.annotations ??= new Map();
    this.#annotated += key.length + value.length;
    if (this.annotations.has(key) || this.#annotated > this.#limit) return;
    this.annotations.set(key, value);
  }

  /** Records a decoded request body, before any change. */
  sent(value: unknown): void {
    if (!isJsonObject(value)) return;
    const { metadata } = value as { readonly metadata?: unknown };
    if (isJsonObject(metadata)) this.metadata = identityOf(metadata);
    if (this.decision.request) this.requestObject = this.#bounded("requestObject", stringifyJson(this.#shown(value)));
  }

  /** Records a patch: as JSON if it is JSON, else as its text. */
  sentPatch(body: Buffer): void {
    if (!this.decision.request) return;
    if (body.length > this.#limit) this.#omit("requestObject");
    else this.requestObject = this.#bounded("requestObject", patchJson(body.toString("utf8")));
  }

  /** Returns the response body as JSON, once it is complete. */
  responseObject({ res }: ObservedRequest): string | undefined {
    const written = this.#answer?.bytes;
    if (this.#answer === undefined || written?.length === 0) return undefined;
    const document = jsonOf(res);
    const bytes = document ?? (written && decompressed(written, res.getHeader("content-encoding"), this.#limit));
    const isCbor = res.getHeader("content-type") === CBOR && document === undefined;
    const isTooLong = bytes === undefined || bytes.length > LONGEST_CHARACTER * this.#limit;
    const json = isTooLong ? undefined : this.#encoded(isCbor ? jsonText(bytes) : bytes.toString("utf8"));
    if (json === undefined) this.#omit("responseObject");
    return json === undefined ? undefined : this.#bounded("responseObject", json);
  }

  #omit(what: string): void {
    this.omitted = this.omitted === undefined || this.omitted === what ? what : `${this.omitted},${what}`;
  }

  #encoded(text: string): string | undefined {
    try {
      JSON.parse(text); // bytes of a storage or handler may be anything
      const line = text.trim();
      const asItIs = !this.decision.omitManagedFields && !/[\r\n\u2028\u2029]/.test(line);
      return asItIs ? line : stringifyJson(this.#shown(parseOwnJson(line)));
    } catch {
      return undefined;
    }
  }

  #shown(value: unknown): unknown {
    return this.decision.omitManagedFields ? withoutManagedFields(value) : value;
  }

  #bounded(what: string, json: string): string | undefined {
    if (json.length <= this.#limit) return json;
    this.#omit(what);
    return undefined;
  }
}

/** Returns CBOR as JSON; "" if it is damaged. */
function jsonText(cbor: Buffer): string {
  try {
    return stringifyJson(readCbor(cbor));
  } catch {
    return "";
  }
}

function identityOf({ name, namespace, uid, resourceVersion }: JsonObject): Partial<ObjectMeta> {
  const texts = Object.entries({ name, namespace, uid, resourceVersion }).filter(
    ([, text]) => typeof text === "string",
  );
  return Object.fromEntries(texts);
}

function patchJson(text: string): string {
  try {
    return stringifyJson(parseJson(text).value);
  } catch {
    return JSON.stringify(text); // YAML, or malformed
  }
}

/** Handles an object, the items of a list, and the objects in the rows of a Table. */
function withoutManagedFields(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const { metadata, items, rows } = value as Record<string, unknown>;
  const bare = isJsonObject(metadata) ? { ...metadata } : metadata;
  if (isJsonObject(bare)) delete (bare as { managedFields?: unknown }).managedFields;
  return {
    ...value,
    ...(bare === undefined ? {} : { metadata: bare }),
    ...(Array.isArray(items) ? { items: items.map(withoutManagedFields) } : {}),
    ...(Array.isArray(rows) ? { rows: rows.map(withoutRowFields) } : {}),
  };
}

function withoutRowFields(row: unknown): unknown {
  if (!isJsonObject(row)) return row;
  const { object } = row as { readonly object?: unknown };
  return { ...row, object: withoutManagedFields(object) };
}

type Write = (chunk?: unknown, ...rest: unknown[]) => unknown;

/** Bytes of UTF-8 for a character of a JavaScript string, at most. */
const LONGEST_CHARACTER = 3;

/** Captures what a response writes, up to a limit: beyond it nothing at all. */
class Capture {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #length = 0;
  /** HTTP/2's `end` calls `write`. */
  #ending = false;

  constructor(res: ServerResponse, limit: number) {
    this.#limit = limit;
    const { write, end } = res as unknown as { readonly write: Write; readonly end: Write };
    const take = ([chunk, encoding]: readonly unknown[]): void => this.#take(chunk, encoding);
    const tapped: { readonly write: Write; readonly end: Write } = {
      write: (...written) => {
        if (!this.#ending) take(written);
        return write.apply(res, written);
      },
      end: (...written) => {
        if (!this.#ending) take(written);
        this.#ending = true;
        return end.apply(res, written);
      },
    };
    Object.assign(res, tapped);
  }

  /** Captured bytes; `undefined` beyond the limit. */
  get bytes(): Buffer | undefined {
    return this.#length > this.#limit ? undefined : Buffer.concat(this.#pieces, this.#length);
  }

  #take(chunk: unknown, encoding: unknown): void {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
    if (this.#length + chunk.length > this.#limit) {
      this.#length = Number.POSITIVE_INFINITY;
      this.#pieces = [];
      return;
    }
    // A copy: writers reuse their buffers.
    const bytes =
      typeof chunk === "string"
        ? Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8")
        : Buffer.from(chunk);
    this.#pieces.push(bytes);
    this.#length += bytes.length;
  }
}

type Decoder = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["br", zlib.brotliDecompressSync],
  ["deflate", zlib.inflateSync],
  ["gzip", zlib.gunzipSync],
  ["x-gzip", zlib.gunzipSync],
  ["zstd", zlib.zstdDecompressSync],
]);

/**
 * Decodes the `Content-Encoding` of a response; `undefined` when the result exceeds `limit` bytes, or the encoding is
 * unknown.
 */
function decompressed(
  bytes: Buffer,
  encoding: number | string | string[] | undefined,
  limit: number,
): Buffer | undefined {
  const codings = String(encoding ?? "identity")
    .split(",")
    .map((coding) => coding.trim().toLowerCase()); // the last one outermost
  return codings.reduceRight<Buffer | undefined>((inner, coding) => inner && decoded(inner, coding, limit), bytes);
}

function decoded(bytes: Buffer, coding: string, limit: number): Buffer | undefined {
  if (coding === "identity") return bytes;
  try {
    return DECODERS.get(coding)?.(bytes, { maxOutputLength: limit });
  } catch {
    return undefined; // larger than that, or damaged
  }
}
