import { setImmediate as nextTurn } from "node:timers/promises";

/** How long others wait for a slice of the work, ms. */
const SLICE = 5;

/** Work that takes long, done in slices: between any two of them others have their turn of the event loop. */
export class Pace {
  #end = performance.now() + SLICE;

  /** Whether it is time to let others: {@link rest}. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  async rest(): Promise<void> {
    await nextTurn();
    this.#end = performance.now() + SLICE;
  }
}
