import { setImmediate as nextTurn } from "node:timers/promises";

/** Divides long work into slices; other work gets a turn of the event loop between two slices. */
export class Pace {
  readonly #slice: number;
  #end: number;

  /** @param slice maximum length of a slice, ms */
  constructor(slice = 10) {
    this.#slice = slice;
    this.#end = performance.now() + slice;
  }

  /** Whether the slice is over: then {@link rest}. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Resolves in another turn of the event loop. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#end = performance.now() + this.#slice;
  }
}
