import { setImmediate as nextTurn } from "node:timers/promises";

/** Work that takes long, done in slices: between any two of them others have their turn of the event loop. */
export class Pace {
  readonly #slice: number;
  #end: number;

  /** @param slice how long others wait for a slice of the work, ms */
  constructor(slice = 10) {
    this.#slice = slice;
    this.#end = performance.now() + slice;
  }

  /** Whether it is time to let others: {@link rest}. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Resolves in another turn of the event loop. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#end = performance.now() + this.#slice;
  }
}
