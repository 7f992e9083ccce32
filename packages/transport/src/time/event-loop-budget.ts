/** How long work may take in one turn of the event loop, ms. */
const LONGEST = 10;

/**
 * Divides long work among turns of the event loop, 10 ms in each. Work that only awaits promises that are resolved already
 * would else hold up every request and timer of the process.
 */
export class EventLoopBudget {
  #began: number | undefined;

  /** @returns a promise of the next turn, once the budget of this one is spent; `undefined` before that */
  rest(): Promise<void> | undefined {
    const now = performance.now();
    if (this.#began === undefined) {
      this.#began = now;
      setImmediate(() => {
        this.#began = undefined;
      }).unref();
      return undefined;
    }
    return now - this.#began < LONGEST ? undefined : new Promise((resolve) => setImmediate(resolve));
  }
}
