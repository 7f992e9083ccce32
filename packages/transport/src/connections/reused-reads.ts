import type { OnReadOpts, Socket } from "node:net";

/**
 * Memory for the reads of all connections, 64 KiB: the handler of a read takes what it needs before it returns. Without it
 * Node.js allocates memory outside of the heap for each read (16 KiB with TLS), and collects all garbage whenever that adds up
 * to some 32 MiB: more than half of the CPU of a proxy of large lists.
 */
const MEMORY = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Reads of a connection into shared memory. The HTTP client reads from its socket as from any other stream; only within a body
 * it gets the shared memory itself, otherwise copies, since it keeps the parts of a head that is incomplete.
 */
export class ReusedReads {
  /** Whether the next read may be overwritten as soon as its handler returns. */
  lends = false;
  /** Whether the present read will be overwritten. */
  lent = false;
  /** Options of the connection. */
  readonly options: { readonly onread: OnReadOpts };
  #socket: Socket | undefined;
  /** Read that its handler can take now. */
  #arrived: Buffer | undefined;
  /** Reads that the HTTP client did not take in time. */
  #kept: Buffer[] = [];
  #stopped = false;
  /** Whether something arrived before the connection was ready. */
  #isEarly = false;

  constructor() {
    this.options = { onread: { buffer: MEMORY, callback: (length) => this.#take(length) } };
  }

  /** Lets a connection with these options be read as usual. */
  of(socket: Socket): this {
    this.#socket = socket;
    if (this.#isEarly) socket.destroy(unrequested());
    const read = socket.read.bind(socket);
    const unshift = socket.unshift.bind(socket);
    // Without `onread`, these come from the stream's own queue, which still has its end.
    socket.read = (size?: number): unknown => this.#next() ?? read(size);
    // A paused reader returns the part that it did not read.
    socket.unshift = (rest: Buffer): void => {
      if (rest.length > 0) this.#kept.unshift(Buffer.from(rest));
      else unshift(rest);
    };
    return this;
  }

  /** Offers a read to its handler. @returns whether to go on reading */
  #take(length: number): boolean {
    const socket = this.#socket;
    const arrived = MEMORY.subarray(0, length);
    // Security: it would be taken for the response to the first request.
    if (socket === undefined || socket.listenerCount("readable") === 0) {
      this.#isEarly = true;
      socket?.destroy(unrequested());
      return false;
    }
    if (this.#kept.length > 0) this.#kept.push(Buffer.from(arrived));
    else this.#arrived = arrived;
    socket.emit("readable");
    if (this.#arrived !== undefined) {
      this.#kept.push(Buffer.from(this.#arrived));
      this.#arrived = undefined;
    }
    this.#stopped = this.#kept.length > 0;
    return !this.#stopped;
  }

  #next(): Buffer | undefined {
    const kept = this.#kept.shift();
    if (kept !== undefined) {
      this.lent = false;
      return kept;
    }
    const arrived = this.#arrived;
    if (arrived !== undefined) {
      this.#arrived = undefined;
      this.lent = this.lends;
      return this.lends ? arrived : Buffer.from(arrived);
    }
    if (this.#stopped) {
      this.#stopped = false;
      this.#socket?._read(0);
    }
    return undefined;
  }
}

function unrequested(): Error {
  return new Error("the server sent data before a request");
}
