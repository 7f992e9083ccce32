// A proxy between two ends of a tunnel that can be silent or slow.
import type { Socket } from "node:net";
import { pair } from "./ends.ts";

export class Between implements AsyncDisposable {
  readonly near: Socket;
  readonly far: Socket;
  /** Drops all bytes without an error. */
  silent = false;
  /** Delays each chunk by some milliseconds. */
  slowly = false;
  /** Chunk size, bytes. */
  piece = 64 * 1024;
  readonly #inner: readonly [Socket, Socket];

  private constructor(near: Socket, far: Socket, inner: readonly [Socket, Socket]) {
    this.near = near;
    this.far = far;
    this.#inner = inner;
    const [one, other] = inner;
    for (const socket of inner) socket.on("error", () => undefined);
    void this.#pass(one, other);
    void this.#pass(other, one);
  }

  static async start(): Promise<Between> {
    const [near, one] = await pair();
    const [other, far] = await pair();
    return new Between(near, far, [one, other]);
  }

  async #pass(from: Socket, to: Socket): Promise<void> {
    try {
      for await (const all of from as AsyncIterable<Buffer>)
        for (let at = 0; at < all.length && !this.silent; at += this.piece) {
          if (this.slowly) await new Promise((resolve) => setTimeout(resolve, 2));
          to.write(all.subarray(at, at + this.piece));
        }
      if (!this.silent) to.end();
    } catch {
      // The sockets are destroyed.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of [...this.#inner, this.near, this.far]) socket.destroy();
  }
}
