/** So many at a time; the others wait, in the order in which they came. */
export class Gate {
  readonly #places: number;
  readonly #queue = new Set<() => void>();
  #inside = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Resolves inside, with the way out. @throws the signal's reason */
  async enter(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#inside >= this.#places) await this.#turn(signal);
    else this.#inside += 1;
    return { [Symbol.dispose]: () => this.#leave() };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#queue.delete(turn);
        reject(signal.reason);
      };
      this.#queue.add(turn);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** A place that becomes free is the next one's: nobody who comes now gets in between. */
  #leave(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#inside -= 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}
