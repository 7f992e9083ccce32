import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** How long a client may take nothing of an answer, ms: as long as a head may take to come. */
const PATIENCE = 32_000;
/** The slowest client that is waited for, bytes in a millisecond. */
const SLOWEST = 16;
/** What may be taken of all that was sent before we notice: it lies in the kernels and on the way. */
const UNNOTICED = 2 * 1024 * 1024;

/** What an answer is written to: a response, a stream of HTTP/2, or the connection of an upgrade. */
export interface Outlet extends EventEmitter {
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly writableLength: number;
  destroy(): unknown;
}

/** An answer under way. */
export class Outgoing {
  readonly outlet: Outlet;
  /** What was still to be written of it, bytes, and since when it has been as much. */
  #left = -1;
  #since = 0;

  constructor(outlet: Outlet) {
    this.outlet = outlet;
  }

  /**
   * Whether it is whole, and its client takes nothing of it. Asked now and then, at `now` by the monotonic clock, ms. By
   * progress and not by time: a slow reader of much is none that holds on to it. What was handed over in one piece makes
   * none until it is all gone, and so has its time by its length.
   */
  isStuck(now: number, { bytesWritten }: Socket): boolean {
    const { writableEnded, writableFinished, writableLength: left } = this.outlet;
    if (!writableEnded || writableFinished) return false;
    if (left !== this.#left) {
      this.#left = left;
      this.#since = now;
    }
    return now - this.#since > PATIENCE + (left + Math.min(bytesWritten, UNNOTICED)) / SLOWEST;
  }
}
