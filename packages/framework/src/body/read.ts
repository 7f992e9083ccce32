import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Cancellation } from "@virtual-workspaces/transport";
import { closeBehindAnswer } from "../listener/malformed.ts";
import { MAX_BODY } from "../util/limits.ts";

/** Options of {@link readBody}. */
export interface ReadBodyOptions {
  /** Response to the request: it announces that the connection closes if the body is not read completely. */
  readonly res?: ServerResponse;
  /** Stops reading when the client disconnects or the deadline passes. */
  readonly signal?: AbortSignal;
  /** Stops reading as `signal` does, at a fraction of its cost. */
  readonly cancellation?: Cancellation;
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
    return await collect(req, { ...options, limit });
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

type CollectOptions = Pick<ReadBodyOptions, "signal" | "cancellation"> & { readonly limit: number };

/** Uses listeners, because stopping an iteration early would destroy the connection before the response. */
function collect(req: IncomingMessage, { limit, signal, cancellation }: CollectOptions): Promise<Buffer> {
  if (req.readableEnded)
    throw new Error("the request body was already read: mount virtual workspaces before body parsers");
  signal?.throwIfAborted();
  if (cancellation?.cancelled === true) throw cancellation.reason;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const body = new Gathered();
  const take = (piece: Buffer): void => {
    if (body.length + piece.length > limit) fail(tooLarge(limit));
    else body.add(piece);
  };
  const leave = (): void => {
    req.off("data", take).off("end", end);
    cancellation?.off(fail);
    signal?.removeEventListener("abort", abort);
  };
  const end = (): void => {
    leave();
    resolve(body.bytes);
  };
  const fail = (reason: unknown): void => {
    leave();
    reject(reason);
  };
  const abort = (): void => fail(signal?.reason);
  // Every request closes, usually complete: creating an error each time would dominate the cost. A client that resets the
  // connection causes a second error, which is ignored.
  const cut = (): void => {
    if (!req.readableEnded) fail(ApiError.badRequest("the request body ended early"));
  };
  // Not `once`, which makes two more objects for each listener.
  req.on("data", take).on("end", end).on("error", cut).on("close", cut);
  cancellation?.on(fail);
  signal?.addEventListener("abort", abort, { once: true });
  return promise;
}

/** Collects bytes in one growing buffer, a single piece in its own. An array of one-byte chunks would take hundreds of times their size. */
class Gathered {
  length = 0;
  #buffer: Buffer = EMPTY;

  get bytes(): Buffer {
    return this.#buffer.length === this.length ? this.#buffer : this.#buffer.subarray(0, this.length);
  }

  add(piece: Buffer): void {
    if (this.length === 0) {
      this.#buffer = piece;
      this.length = piece.length;
      return;
    }
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

const EMPTY: Buffer = Buffer.alloc(0);
