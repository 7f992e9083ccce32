/** Bytes that are gathered before a write. */
const SIZE = 64 * 1024;
/** Unused buffers that are kept for the next. */
const KEPT = 4;
const NEWLINE = 10;

/** Lines, encoded one behind the other. */
export class Piece {
  readonly #buffer: Buffer;
  #length = 0;
  lines = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  /** What was added, each line with its end. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  get buffer(): Buffer {
    return this.#buffer;
  }

  /** Whether a line fits, whatever its characters are. */
  fits(line: string): boolean {
    return this.#length + mostBytes(line) <= this.#buffer.length;
  }

  /** @returns the bytes that it takes */
  add(line: string): number {
    const written = this.#buffer.write(line, this.#length) + 1;
    this.#length += written;
    this.#buffer[this.#length - 1] = NEWLINE;
    this.lines += 1;
    return written;
  }
}

/**
 * Buffers for pieces, used again. Lines that wait as strings would live until they are written, and the collector would
 * copy each of them: that cost more than all else about them.
 */
export class Pieces {
  readonly #free: Buffer[] = [];

  /** For a line and, most times, others. */
  take(line: string): Piece {
    if (mostBytes(line) > SIZE) return new Piece(Buffer.allocUnsafeSlow(mostBytes(line)));
    return new Piece(this.#free.pop() ?? Buffer.allocUnsafeSlow(SIZE));
  }

  give({ buffer }: Piece): void {
    if (buffer.length === SIZE && this.#free.length < KEPT) this.#free.push(buffer);
  }
}

/** UTF-8 takes at most three bytes for each unit of a string, and the line ends. */
function mostBytes(line: string): number {
  return 3 * line.length + 1;
}
