/** How long others wait for a piece of work, ms. */
const SLICE = 5;

/**
 * Work that takes long, done a little in each turn of the event loop, and one piece after the other. Each is an iterator that
 * has done some of its work whenever it yields.
 */
export class Slices implements Disposable {
  readonly #waiting = new Set<Iterator<unknown>>();
  #planned: NodeJS.Immediate | undefined;

  /** Has a piece of work done, some time. */
  add(work: Iterator<unknown>): void {
    this.#waiting.add(work);
    this.#planned ??= setImmediate(this.#run);
  }

  /** Leaves undone what is left of it. */
  delete(work: Iterator<unknown>): void {
    this.#waiting.delete(work);
  }

  /** Does what is left of it now. */
  finish(work: Iterator<unknown>): void {
    while (work.next().done !== true);
    this.#waiting.delete(work);
  }

  [Symbol.dispose](): void {
    this.#waiting.clear();
    clearImmediate(this.#planned);
  }

  readonly #run = (): void => {
    this.#planned = undefined;
    const end = performance.now() + SLICE;
    for (const work of this.#waiting) {
      while (performance.now() < end) {
        if (work.next().done !== true) continue;
        this.#waiting.delete(work);
        break;
      }
    }
    if (this.#waiting.size > 0) this.#planned = setImmediate(this.#run);
  };
}
