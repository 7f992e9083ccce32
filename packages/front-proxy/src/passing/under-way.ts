/** What is under way somewhere, for whoever waits until it is over. */
export class UnderWay {
  #count = 0;
  #over: (() => void) | undefined;

  /** Runs work that counts. @throws what it throws */
  async run(work: () => Promise<void>): Promise<void> {
    this.#count += 1;
    try {
      await work();
    } finally {
      this.#count -= 1;
      if (this.#count === 0) this.#over?.();
    }
  }

  /** Resolves when nothing is, or after so many ms. Asked once. */
  async over(most: number): Promise<void> {
    if (this.#count === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#over = resolve;
    const timer = setTimeout(resolve, most);
    await promise;
    clearTimeout(timer);
  }
}
