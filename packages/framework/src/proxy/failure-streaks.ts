/** Tells of failures once for each spell of them, however often it is tried. */
export class FailureStreaks {
  readonly #failing = new Set<string>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** How many streams fail now. */
  get failing(): number {
    return this.#failing.size;
  }

  /** Tells of it, unless `key` is failing already. */
  failed(error: unknown, key: string): void {
    if (this.#failing.has(key)) return;
    this.#failing.add(key);
    this.#onError(error);
  }

  /** It works: the next failure begins another spell. */
  answered(key: string): void {
    this.#failing.delete(key);
  }
}
