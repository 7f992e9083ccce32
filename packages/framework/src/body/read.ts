import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { closeBehindAnswer } from "../listener/malformed.ts";
import { MAX_BODY } from "../util/limits.ts";

/** How {@link readBody} reads. */
export interface ReadBodyOptions {
  /** The response to the request: says that the connection closes when the body is not read to its end. */
  readonly res?: ServerResponse;
  /** Aborts when the client leaves or the deadline passes: reading ends. */
  readonly signal?: AbortSignal;
  /** Bytes. @default 3 MiB, Kubernetes' own */
  readonly limit?: number;
}

/**
 * Reads the body of a request. What is too long is not read: if `Content-Length` says so none of it, else no more than the
 * limit; then the connection closes behind the answer. Rejects when the client leaves.
 *
 * @throws ApiError 400 when the body ends early, 413 when it is over the limit, 415 when it is compressed; the signal's
 *   reason
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

/** Kubernetes looks at no `Content-Encoding`, and takes what is compressed for malformed JSON. */
function checkEncoding(encoding: string | undefined): void {
  if (["", "identity"].includes(encoding?.trim().toLowerCase() ?? "")) return;
  throw new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "the body of the request is compressed; send it as it is, without Content-Encoding",
    reason: "UnsupportedMediaType",
    code: 415,
  });
}

interface CollectOptions {
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** By listeners: ending an iteration early would destroy the connection before it is answered. */
function collect(req: IncomingMessage, { limit, signal }: CollectOptions): Promise<Buffer> {
  if (req.readableEnded)
    throw new Error("the body has been read already: mount virtual workspaces before what parses bodies");
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const body = new Gathered();
  const take = (piece: Buffer): void => {
    if (body.length + piece.length > limit) reject(tooLarge(limit));
    else body.add(piece);
  };
  const end = (): void => resolve(body.bytes);
  // Every request closes, most of them whole: an error for each would cost more than all else here.
  const cut = (): void => {
    if (!req.readableEnded) reject(ApiError.badRequest("the body of the request ended early"));
  };
  const abort = (): void => reject(signal?.reason);
  req.on("data", take).once("end", end).once("error", cut).once("close", cut);
  signal?.addEventListener("abort", abort, { once: true });
  return promise.finally(() => {
    req.off("data", take).off("end", end).off("close", cut);
    signal?.removeEventListener("abort", abort);
    // A client that resets the connection makes one more error of it, which is none.
    req.once("error", () => undefined).off("error", cut);
  });
}

/** Bytes in one buffer that grows. Pieces of a single byte would take hundreds of times what is in them. */
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
