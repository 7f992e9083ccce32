import { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";

/**
 * Bytes gathered before a write. Smaller ones cost a system call and a wake-up of the reader each: with half of it a
 * large list takes a fifth longer, twice of it gains nothing.
 */
const PIECE = 512 * 1024;
/** Where a writer begins, and up to where it grows by itself. */
const SMALL = { first: 4 * 1024, last: 64 * 1024 } as const;
/** Unused buffers that are kept for the next. */
const KEPT = 8;

/** Buffers for large bodies, used again: memory would else grow by what the collector has not seen yet. */
export class PiecePool {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(PIECE);
  }

  give(piece: Buffer): void {
    if (piece.length === PIECE && this.#free.length < KEPT) this.#free.push(piece);
  }
}

/**
 * Writes many small buffers through one that is used again and again, at the pace of the reader: a body of any length
 * costs {@link PIECE} bytes, a small one what it takes.
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

  /** Takes all `buffers`, with the byte `separator` between them. @throws the stream's error when the client leaves */
  async addAll(buffers: Iterable<Buffer>, separator?: number): Promise<void> {
    let between: number | undefined;
    for (const bytes of buffers) {
      if (!this.#fits(bytes.length + 1)) await this.#makeRoom(bytes.length + 1);
      if (between !== undefined) this.#piece[this.#filled++] = between;
      between = separator;
      if (bytes.length < PIECE) this.#take(bytes);
      else await this.#writeLarge(bytes);
    }
  }

  /** Takes `bytes`. @throws the stream's error when the client leaves */
  add(bytes: Buffer): Promise<void> {
    return this.addAll([bytes]);
  }

  /** Writes what is left. The stream stays open, the writer is done. @throws the stream's error when the client leaves */
  async finish(): Promise<void> {
    await this.#flush();
    this.#pool.give(this.#piece);
  }

  #fits(length: number): boolean {
    return this.#filled + length <= this.#piece.length;
  }

  #take(bytes: Buffer): void {
    this.#piece.set(bytes, this.#filled);
    this.#filled += bytes.length;
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

/** Writes bytes, and resolves when their memory may be used again. */
type Write = (bytes: Buffer) => Promise<void>;

function writeTo(out: Writable): Write {
  // A middleware that has put itself in front need not know callbacks (compression does not).
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
    if (out.destroyed) throw new Error("the client has left");
  };
}

/**
 * The same bytes in memory of their own. What is small comes from Node's pool: kept for long, a few hundred bytes there hold on to
 * 64 KiB that were handed out with them.
 */
export function keptBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

const CRLF = Buffer.from("\r\n");

/** Bytes for many responses, framed once for all of them as a chunk of HTTP's chunked encoding (RFC 9112, 7.1). */
export class Chunk {
  readonly framed: Buffer;
  /** How many events they are. */
  readonly events: number;
  readonly #head: number;

  constructor(pieces: readonly Buffer[], events: number) {
    this.events = events;
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const head = Buffer.from(`${length.toString(16)}\r\n`);
    this.framed = Buffer.concat([head, ...pieces, CRLF]);
    this.#head = head.length;
  }

  /** Without the frame. */
  get bytes(): Buffer {
    return this.framed.subarray(this.#head, -CRLF.length);
  }
}

/**
 * A response that has begun, for chunks that it shares with others. Node frames every write of every response anew and
 * hands it to the socket in four pieces; a chunk that is framed already goes to the socket as it is, for a quarter less
 * CPU. Only where that is all that Node would do: not when a middleware has put itself in front (compression), not for
 * HTTP/1.0, nor while another response has the socket.
 */
export class ChunkStream {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** False when the socket wants no more for now. */
  write(chunk: Chunk): boolean {
    const socket = this.#socket;
    return socket === null ? this.#response.write(chunk.bytes) : socket.write(chunk.framed);
  }

  /** Calls back once what was written last has left. */
  onceDrained(listener: () => void): void {
    (this.#socket ?? this.#response).once("drain", listener);
  }

  /** Where chunks may go as they are. */
  get #socket(): Socket | null {
    const { chunkedEncoding, write, socket } = this.#response;
    return chunkedEncoding && write === ServerResponse.prototype.write ? socket : null;
  }
}
