import type { Writable } from "node:stream";

/** Bytes gathered before a write. Larger gains nothing, smaller costs a system call each. */
const PIECE = 256 * 1024;

/**
 * Writes many small buffers through one reused buffer, waiting for each piece to leave: a list of any length costs
 * {@link PIECE} bytes. Whatever was written stands in the response when it returns; it does not end it.
 *
 * @throws the stream's error when the client leaves
 */
export async function writePieces(out: Writable, buffers: Iterable<Buffer>): Promise<void> {
  const piece = Buffer.allocUnsafe(PIECE);
  let filled = 0;
  const flush = async (): Promise<void> => {
    await written(out, piece.subarray(0, filled));
    filled = 0;
  };
  for (const buffer of buffers) {
    if (filled + buffer.length > PIECE) await flush();
    if (buffer.length > PIECE) {
      await written(out, buffer);
      continue;
    }
    filled += buffer.copy(piece, filled);
  }
  if (filled > 0) await flush();
}

function written(out: Writable, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
