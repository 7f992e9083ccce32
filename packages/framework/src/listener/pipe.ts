import { Duplex } from "node:stream";

/**
 * Makes an in-process connection: bytes written to one end are read at the other, at its pace, in memory of their own. Ends behave
 * like a connection: cutting one fails the other, ending one lets the other read to the end.
 */
export function pipe(): readonly [Duplex, Duplex] {
  const [near, far] = [new End(), new End()];
  near.other = far;
  far.other = near;
  return [near, far];
}

/** Provides the socket members that Node's servers use. */
class End extends Duplex {
  other: End | undefined;
  bytesWritten = 0;
  /** Resumes the other end when this one has room. */
  #waiting: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: false });
  }

  override _read(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const { other } = this;
    if (other === undefined || other.destroyed) {
      done(broken("EPIPE", "the other end of the connection is closed"));
      return;
    }
    this.bytesWritten += chunk.length;
    // Security: a writer may use the memory for other bytes once this is done, such as those of another response.
    if (other.push(Buffer.from(chunk))) done();
    else other.#waiting = done;
  }

  override _final(done: () => void): void {
    if (this.other?.destroyed === false) this.other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { other, writableFinished } = this;
    done(error);
    this._read(); // ends a pending write
    if (other === undefined || other.destroyed || writableFinished) return;
    process.nextTick(() => other.destroy(broken("ECONNRESET", "the other end of the connection was cut")));
  }

  /** Closes after pending writes. */
  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else this.end(() => this.destroy());
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

function broken(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
