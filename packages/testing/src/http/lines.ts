const NEWLINE = 10;

/**
 * The lines of a byte stream, without their newlines. Pulls: nothing is read ahead of the line that is asked for but
 * the piece it came in, so memory is bounded by `maxBytes` plus one piece.
 *
 * @throws Error on a line longer than `maxBytes`, and on a last line that no newline ends: it may have been cut
 */
export async function* lines(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string, void> {
  let pending: Buffer[] = [];
  let size = 0;
  for await (const piece of source) {
    let from = 0;
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, from)) {
      check(size + at - from, maxBytes);
      pending.push(piece.subarray(from, at));
      const line = Buffer.concat(pending).toString("utf8");
      pending = [];
      size = 0;
      from = at + 1;
      yield line;
    }
    if (from === piece.length) continue;
    pending.push(piece.subarray(from));
    size += piece.length - from;
    check(size, maxBytes);
  }
  if (size > 0) throw new Error(`the stream ended within a line: ${excerpt(pending)}`);
}

function check(size: number, maxBytes: number): void {
  if (size > maxBytes) throw new Error(`a line is longer than ${maxBytes} bytes`);
}

function excerpt(pending: readonly Buffer[]): string {
  return JSON.stringify(Buffer.concat(pending).subarray(0, 200).toString("utf8"));
}
