import type { Writable } from "node:stream";

/**
 * Bytes collected before a write. Each write costs a system call and wakes the reader: with half the size, a large list takes
 * a fifth longer; twice the size gains nothing.
 */
const PIECE = 512 * 1024;
/** Initial size of a writer's buffer, and the size up to which it grows by itself, in bytes. */
const SMALL = { first: 4 * 1024, last: 64 * 1024 } as const;
/** Number of unused buffers that are kept. */
const KEPT = 8;
const NOTHING: Buffer = Buffer.alloc(0);

/** Pool of buffers for large bodies. Without it, memory would grow until the next garbage collection. */
export class PiecePool {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(PIECE);
  }

  give(piece: Buffer): void {
    if (piece.length === PIECE && this.#free.length < KEPT) this.#free.push(piece);
  }
}

/** Bytes to write between buffers, and to leave out of each. */
export interface Separation {
  /** @default nothing */
  readonly separator?: Buffer;
  /** Number of bytes to leave out at the beginning of each buffer. @default 0 */
  readonly skip?: number;
}

/**
 * Writes many small buffers through one reusable buffer, at the speed of the reader: a body of any length costs {@link PIECE}
 * bytes, a small one only its size.
 */
export class PieceWriter {
  readonly #write: Write;
  readonly #pool: PiecePool;
  #piece: Buffer = Buffer.allocUnsafe(SMALL.first);
  #filled = 0;

  constructor(out: Writable, pool: PiecePool) {
    this.#write = writeTo(out);
    this.#pool = pool;
  }

  /**
   * Writes all `buffers` with a separator between them, each without its first `skip` bytes.
   * @throws the stream's error when the client disconnects
   */
  async addAll(buffers: Iterable<Buffer>, { separator = NOTHING, skip = 0 }: Separation = {}): Promise<void> {
    let between = NOTHING;
    for (const bytes of buffers) {
      const length = between.length + bytes.length - skip;
      if (!this.#fits(length)) await this.#makeRoom(length);
      for (let at = 0; at < between.length; at++) this.#piece[this.#filled++] = between[at] as number;
      between = separator;
      if (length <= PIECE) this.#take(bytes, skip);
      else await this.#writeLarge(bytes.subarray(skip));
    }
  }

  /** Writes `bytes`. @throws the stream's error when the client disconnects */
  add(bytes: Buffer): Promise<void> {
    return this.addAll([bytes]);
  }

  /** Writes the remaining bytes; the stream stays open. @throws the stream's error when the client disconnects */
  async finish(): Promise<void> {
    await this.#flush();
    this.#pool.give(this.#piece);
  }

  #fits(length: number): boolean {
    return this.#filled + length <= this.#piece.length;
  }

  #take(bytes: Buffer, skip: number): void {
    // Faster than `copy` for whole buffers, and slower for parts.
    if (skip === 0) this.#piece.set(bytes, this.#filled);
    else bytes.copy(this.#piece, this.#filled, skip);
    this.#filled += bytes.length - skip;
  }

  async #makeRoom(length: number): Promise<void> {
    if (this.#piece.length === PIECE) return this.#flush();
    const wanted = Math.max(2 * this.#piece.length, this.#filled + length);
    const larger = wanted <= SMALL.last ? Buffer.allocUnsafe(wanted) : this.#pool.take();
    this.#piece.copy(larger, 0, 0, this.#filled);
    this.#piece = larger;
    if (!this.#fits(length)) await this.#flush();
  }

  async #writeLarge(bytes: Buffer): Promise<void> {
    await this.#flush();
    await this.#write(bytes);
  }

  async #flush(): Promise<void> {
    const bytes = this.#piece.subarray(0, this.#filled);
    this.#filled = 0;
    if (bytes.length > 0) await this.#write(bytes);
  }
}

/** Writes bytes, and resolves when their memory can be reused. */
type Write = (bytes: Buffer) => Promise<void>;

function writeTo(out: Writable): Write {
  // A middleware that wraps the response may not support callbacks (compression does not).
  if (Object.hasOwn(out, "write")) return writeCopies(out);
  return (bytes) =>
    new Promise((resolve, reject) => {
      out.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
}

function writeCopies(out: Writable): Write {
  let goOn = (): void => undefined;
  out.on("drain", () => goOn()).once("close", () => goOn());
  return async (bytes) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    goOn = resolve;
    if (!out.write(Buffer.from(bytes))) await promise;
    if (out.destroyed) throw new Error("the client has disconnected");
  };
}

/** Returns a copy of the bytes. In Node's pool, a few hundred bytes kept for long would retain 64 KiB. */
export function keptBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
