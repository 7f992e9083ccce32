import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";

/** Interval of the checks, ms. */
const EVERY = 1_000;
/** A process is idle when its utilization stays at or below this share for that many checks. */
const [RESTS, TIMES] = [0.1, 3];

/** Options of {@link RestingMemory}. */
export interface RestingMemoryOptions {
  /** Interval of the checks, ms. @default 1000 */
  readonly every?: number;
}

/**
 * Returns memory to the system while the process is idle. After a start or a load peak, V8 keeps pages full of garbage,
 * several times the live heap. Its memory reducer waits for a collection with a low allocation rate, which an idle process
 * never has. With `--optimize-for-size` the reducer runs: in slices, with two pauses of 0.1 s for a live heap of 120 MiB.
 * Under load the flag is off again.
 */
export class RestingMemory implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #end = (): void => this.#set(false);
  #since = performance.eventLoopUtilization();
  #quiet = 0;
  #rests = false;

  constructor({ every = EVERY }: RestingMemoryOptions = {}) {
    this.#timer = setInterval(() => this.#look(), every).unref();
    // Node.js writes the compile cache at exit, and only a start with the same V8 flags can use it.
    process.once("exit", this.#end);
  }

  /** Whether V8 optimizes for size. */
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
