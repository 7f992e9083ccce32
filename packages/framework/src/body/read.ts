import type { IncomingMessage } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";

export interface ReadBodyOptions {
  readonly signal: AbortSignal;
  /** Bytes. @default 3 MiB, Kubernetes' own */
  readonly limit?: number;
}

/** Reads the body of a request. @throws ApiError 413 */
export async function readBody(req: IncomingMessage, { limit = 3 * 1024 * 1024 }: ReadBodyOptions): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of req as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > limit) throw ApiError.requestEntityTooLarge(`limit is ${limit}`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
