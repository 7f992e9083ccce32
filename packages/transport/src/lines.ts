import { TransportError } from "./transport-error.ts";

/** How long a line may be. */
export interface LineOptions {
  /** Bytes, without its end. */
  readonly limit: number;
}

const LINE_FEED = 10;

/**
 * The lines of a body, each as soon as it is whole, without its line feed; empty ones are left out. A last one without a
 * line feed is not whole, and not given.
 *
 * @throws TransportError `tooLarge` on a line that is too long
 */
export async function* lines(
  body: AsyncIterable<Buffer>,
  { limit }: LineOptions,
): AsyncGenerator<Buffer, void, undefined> {
  let begun: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    let from = 0;
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, from)) {
      const rest = piece.subarray(from, at);
      from = at + 1;
      const line = begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
      begun = [];
      length = 0;
      if (line.length > limit) throw tooLong(limit);
      if (line.length > 0) yield line;
    }
    if (from === piece.length) continue;
    begun.push(piece.subarray(from));
    length += piece.length - from;
    if (length > limit) throw tooLong(limit);
  }
}

function tooLong(limit: number): TransportError {
  return new TransportError("tooLarge", `a line of the body is longer than ${limit} bytes`, { delivered: true });
}
