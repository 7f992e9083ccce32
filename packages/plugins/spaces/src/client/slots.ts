import { type Clock, type Slot, systemClock } from "@virtual-workspaces/client";

/** Maximum number of Spaces that start to read at a time. */
const AT_ONCE = 16;
/** Time after which a reader without a response releases its slot, ms. */
const PATIENCE = 1_000;

/** Slots for the initial reads of Spaces. A Space that does not respond does not block the others. */
export class Slots {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #free = AT_ONCE;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Takes the next free slot. @throws the signal's reason */
  async take(signal?: AbortSignal): Promise<Slot> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    let isTaken = true;
    const end = (): void => {
      if (isTaken) this.#next();
      isTaken = false;
    };
    const late = this.#clock.after(PATIENCE, end);
    return {
      begun: () => late[Symbol.dispose](),
      [Symbol.dispose]: () => {
        late[Symbol.dispose]();
        end();
      },
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (): void => {
      this.#waiting.delete(resolve);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#waiting.add(resolve);
    return promise.finally(() => signal?.removeEventListener("abort", abort));
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) this.#free += 1;
    else this.#waiting.delete(first);
    first?.();
  }
}
