import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { closeBehindAnswer } from "../listener/malformed.ts";
import { MAX_BODY } from "../util/limits.ts";

/** Options of {@link readBody}. */
export interface ReadBodyOptions {
  /** Response to the request: it announces that the connection closes if the body is not read completely. */
  readonly res?: ServerResponse;
  /** Stops reading when the client disconnects or the deadline passes. */
  readonly signal?: AbortSignal;
  /** Limit of the body, in bytes. @default 3 MiB, as in Kubernetes */
  readonly limit?: number;
}

/**
 * Reads the body of a request. A body over the limit is not read: nothing if `Content-Length` exceeds the limit, else no more
 * than the limit; the connection then closes after the response. Rejects when the client disconnects.
 *
 * @throws ApiError 400 when the body ends early, 413 when it is over the limit, 415 when it is compressed; the signal's
 * reason
 */
export async function readBody(req: IncomingMessage, options: ReadBodyOptions): Promise<Buffer> {
  const { res, limit = MAX_BODY } = options;
  try {
    checkEncoding(req.headers["content-encoding"]);
    if (Number(req.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
    return await collect(req, { limit, signal: options.signal });
  } catch (error) {
    closeBehindAnswer(req, res);
    throw error;
  }
}

function tooLarge(limit: number): ApiError {
  return ApiError.requestEntityTooLarge(`limit is ${limit}`);
}

/** Kubernetes ignores `Content-Encoding` and reports a compressed body as malformed JSON. */
function checkEncoding(encoding: string | undefined): void {
  if (["", "identity"].includes(encoding?.trim().toLowerCase() ?? "")) return;
  throw new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "compressed request body is not supported: send it without Content-Encoding",
    reason: "UnsupportedMediaType",
    code: 415,
  });
}

interface CollectOptions {
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** Uses listeners, because stopping an iteration early would destroy the connection before the response. */
function collect(req: IncomingMessage, { limit, signal }: CollectOptions): Promise<Buffer> {
  if (req.readableEnded)
    throw new Error("the request body was already read: mount virtual workspaces before body parsers");
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const body = new Gathered();
  const take = (piece: Buffer): void => {
    if (body.length + piece.length > limit) reject(tooLarge(limit));
    else body.add(piece);
  };
  const end = (): void => resolve(body.bytes);
  // Every request closes, usually complete: creating an error each time would dominate the cost.
  const cut = (): void => {
    if (!req.readableEnded) reject(ApiError.badRequest("the request body ended early"));
  };
  const abort = (): void => reject(signal?.reason);
  req.on("data", take).once("end", end).once("error", cut).once("close", cut);
  signal?.addEventListener("abort", abort, { once: true });
  return promise.finally(() => {
    req.off("data", take).off("end", end).off("close", cut);
    signal?.removeEventListener("abort", abort);
    // A client that resets the connection causes a second error, which is ignored.
    req.once("error", () => undefined).off("error", cut);
  });
}

/** Collects bytes in one growing buffer. An array of one-byte chunks would take hundreds of times their size. */
class Gathered {
  length = 0;
  #buffer: Buffer = Buffer.alloc(0);

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  add(piece: Buffer): void {
    const length = this.length + piece.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length));
      larger.set(this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.length);
    this.length = length;
  }
}
