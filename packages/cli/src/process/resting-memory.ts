import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";

/** How often it looks whether there is anything to do, ms. */
const EVERY = 1_000;
/** A process rests that was busy for no more than this part of the time, so many times running. */
const [RESTS, TIMES] = [0.1, 3];

/** How {@link RestingMemory} looks. */
export interface RestingMemoryOptions {
  /** ms. @default 1000 */
  readonly every?: number;
}

/**
 * Gives memory back to the system while the process rests. V8 keeps the pages that a start or a storm has filled with garbage,
 * several times what is in use, until a collection that is to save memory, and its own reducer of memory waits for one
 * whose rate of allocation was low: to a process that does nothing there comes none. Told that size counts, the reducer
 * works: in slices, with two pauses of a tenth of a second where 120 MiB are in use. Where there is something to do
 * V8 is to be fast again.
 */
export class RestingMemory implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #end = (): void => this.#set(false);
  #since = performance.eventLoopUtilization();
  #quiet = 0;
  #rests = false;

  constructor({ every = EVERY }: RestingMemoryOptions = {}) {
    this.#timer = setInterval(() => this.#look(), every).unref();
    // Compiled code is cached at the end, and is good for a start with the same flags alone.
    process.once("exit", this.#end);
  }

  /** Whether V8 is told to save memory. */
  get rests(): boolean {
    return this.#rests;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    process.off("exit", this.#end);
    this.#set(false);
  }

  #look(): void {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#since);
    this.#since = now;
    this.#quiet = utilization > RESTS ? 0 : this.#quiet + 1;
    this.#set(this.#quiet >= TIMES);
  }

  #set(rests: boolean): void {
    if (rests === this.#rests) return;
    this.#rests = rests;
    setFlagsFromString(rests ? "--optimize-for-size" : "--no-optimize-for-size");
  }
}
