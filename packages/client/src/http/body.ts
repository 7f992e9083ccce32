import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { header, type StreamedResponse, TransportError } from "@virtual-workspaces/transport";

const inflate = promisify(gunzip);

/** The whole body of an answer, unpacked: bounded on the wire and in memory. */
export interface BodyOptions {
  /** `GET https://host/path`. */
  readonly what: string;
  /** The most bytes, packed and unpacked. */
  readonly limit: number;
}

/** @throws TransportError `tooLarge`; `malformed` on what cannot be unpacked; what reading it throws */
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
    throw malformed(what, `the answer is encoded as ${JSON.stringify(encoding)}, which was not asked for`);
  try {
    return await inflate(body, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(what, limit);
    throw malformed(what, "the answer says that it is gzip, and is not");
  }
}

export function malformed(what: string, text: string): TransportError {
  return new TransportError("malformed", `${what}: ${text}`, { delivered: true });
}

function tooLarge(what: string, limit: number): TransportError {
  return new TransportError("tooLarge", `${what}: the answer is longer than ${limit} bytes: list in pages, by limit`, {
    delivered: true,
  });
}
