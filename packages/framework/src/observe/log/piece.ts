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
  /** Whether it waits, and the next line did not fit. */
  full = false;

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

  /** What it is to be counted as, bytes: what lies idle behind the last line is memory too. */
  get size(): number {
    return this.full ? this.#buffer.length : this.#length;
  }

  fits(line: string): boolean {
    const room = this.#buffer.length - this.#length;
    return mostBytes(line) <= room || bytesOf(line) <= room;
  }

  /** Adds a line that fits. */
  add(line: string): void {
    this.#length += this.#buffer.write(line, this.#length) + 1;
    this.#buffer[this.#length - 1] = NEWLINE;
    this.lines += 1;
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
    const size = mostBytes(line) > SIZE ? bytesOf(line) : 0;
    if (size > SIZE) return new Piece(Buffer.allocUnsafeSlow(size));
    return new Piece(this.#free.pop() ?? Buffer.allocUnsafeSlow(SIZE));
  }

  give({ buffer }: Piece): void {
    if (buffer.length === SIZE && this.#free.length < KEPT) this.#free.push(buffer);
  }
}

/** What tells without a look at the line: UTF-8 takes at most three bytes for each unit of a string. */
function mostBytes(line: string): number {
  return 3 * line.length + 1;
}

function bytesOf(line: string): number {
  return Buffer.byteLength(line) + 1;
}
