import { type LineWriter, SomeLost } from "./target.ts";

/** Time disposal waits for pending lines, ms. */
const PATIENCE = 5_000;

export interface LineQueueOptions {
  readonly writer: LineWriter;
  /** Bytes that may be pending. */
  readonly limit: number;
  /** Time a line waits for others in the same write, ms; 0 is the end of the turn. */
  readonly delay: number;
  /** Called with the number of lost lines, and the reason. */
  readonly onLost: (count: number, error: unknown) => void;
}

/** Bounded queue of lines: in order, written in batches. */
export class LineQueue implements AsyncDisposable {
  readonly #options: LineQueueOptions;
  readonly #pool = new Pieces();
  /** Full pieces, oldest first. */
  readonly #full: Piece[] = [];
  #open: Piece | undefined;
  /** Bytes of all pieces but the open one. */
  #waiting = 0;
  /** Lines being written. */
  #underWay = 0;
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #writing: Promise<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  /** Lines added, and lines written or lost, since the start. */
  #added = 0;
  #done = 0;

  constructor(options: LineQueueOptions) {
    this.#options = options;
  }

  /** Whether the limit is reached. */
  get full(): boolean {
    return this.isFullWith(0);
  }

  /** Whether `more` bytes would reach the limit. */
  isFullWith(more: number): boolean {
    return this.#waiting + (this.#open?.size ?? 0) + more >= this.#options.limit;
  }

  /** Adds a line, without its end, even when full: callers that must not exceed the limit check before. */
  add(line: string): void {
    if (this.#open?.fits(line) === false) this.#close(this.#open);
    this.#open ??= this.#pool.take(line);
    this.#open.add(line);
    this.#added += 1;
    this.#schedule();
  }

  /** Resolves once there is room. */
  room(): Promise<void> {
    if (!this.full) return Promise.resolve();
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** Writes the lines added so far; resolves once they are written or lost. Lines that arrive meanwhile share the next write. */
  async written(): Promise<void> {
    const last = this.#added;
    while (this.#done < last) await (this.#writing ?? this.#start());
  }

  /** Writes all pending lines, however long that takes. */
  async flush(): Promise<void> {
    while (this.#open !== undefined || this.#full.length > 0 || this.#writing !== undefined)
      await (this.#writing ?? this.#start());
  }

  /** Writes pending lines, up to a time limit. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const timer = setTimeout(resolve, PATIENCE, "late" as const);
    const how = await Promise.race([this.flush(), late]);
    clearTimeout(timer);
    if (how === "late") this.#options.onLost(this.#lines(), "the target did not accept them before shutdown");
    else await this.#options.writer.close();
  }

  #lines(): number {
    return [...this.#full, this.#open].reduce((sum, piece) => sum + (piece?.lines ?? 0), this.#underWay);
  }

  /** A full piece is written at once; a partial one waits, since a write of a few lines costs as much. */
  #schedule(): void {
    if (this.#writing !== undefined) return;
    if (this.#full.length > 0) void this.#start();
    else if (this.#open !== undefined) this.#timer ??= this.#startLater();
  }

  #startLater(): NodeJS.Timeout | NodeJS.Immediate {
    const { delay } = this.#options;
    // The timer does not keep an idle process alive: `flush` does.
    return delay === 0 ? setImmediate(() => void this.#start()) : setTimeout(() => void this.#start(), delay).unref();
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer as NodeJS.Timeout | undefined);
    clearImmediate(this.#timer as NodeJS.Immediate | undefined);
    this.#timer = undefined;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      this.#schedule();
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    const piece = this.#take();
    if (piece === undefined) return;
    const { bytes, lines, size } = piece;
    this.#underWay = lines;
    try {
      await this.#options.writer.write(bytes);
    } catch (error) {
      if (error instanceof SomeLost) this.#options.onLost(error.count, error.cause);
      else this.#options.onLost(lines, error);
    }
    this.#underWay = 0;
    this.#done += lines;
    this.#pool.give(piece);
    this.#waiting -= size;
    if (this.full) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  #take(): Piece | undefined {
    const full = this.#full.shift();
    if (full !== undefined) return full;
    const piece = this.#open;
    this.#waiting += piece?.size ?? 0;
    this.#open = undefined;
    return piece;
  }

  #close(piece: Piece): void {
    piece.full = true;
    this.#waiting += piece.size;
    this.#full.push(piece);
    this.#open = undefined;
  }
}

/** Bytes to collect before a write. */
const SIZE = 64 * 1024;
/** Number of unused buffers to keep. */
const KEPT = 4;
const NEWLINE = 10;

/** Consecutive encoded lines. */
class Piece {
  readonly #buffer: Buffer;
  #length = 0;
  lines = 0;
  /** Whether the piece is pending, and the next line did not fit. */
  full = false;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  /** Added lines, each with its end. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  get buffer(): Buffer {
    return this.#buffer;
  }

  /** Size that counts towards the limit, bytes: unused space in the buffer is memory, too. */
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
 * Pool of buffers for pieces. Pending strings would live until they are written, and the collector would copy each of them:
 * that cost more than everything else about them.
 */
export class Pieces {
  readonly #free: Buffer[] = [];

  /** Returns a piece for a line and, usually, further ones. */
  take(line: string): Piece {
    const size = mostBytes(line) > SIZE ? bytesOf(line) : 0;
    if (size > SIZE) return new Piece(Buffer.allocUnsafeSlow(size));
    return new Piece(this.#free.pop() ?? Buffer.allocUnsafeSlow(SIZE));
  }

  give({ buffer }: Piece): void {
    if (buffer.length === SIZE && this.#free.length < KEPT) this.#free.push(buffer);
  }
}

/** Upper bound without reading the line: UTF-8 takes at most three bytes for each code unit. */
function mostBytes(line: string): number {
  return 3 * line.length + 1;
}

function bytesOf(line: string): number {
  return Buffer.byteLength(line) + 1;
}
