/** How long work may go on in one turn of the event loop, ms. */
const LONGEST = 10;

/**
 * Lets others have their turn: work that waits for nothing but promises that are kept already would hold up every
 * request and timer of the process until none is left.
 */
export class Turns {
  #began: number | undefined;

  /** Resolves in the next turn where this one has lasted long enough; `undefined`: go on. */
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
