/** Reports a series of failures once, however many retries it has. */
export class FailureStreaks {
  readonly #failing = new Set<string>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Number of keys that fail now. */
  get failing(): number {
    return this.#failing.size;
  }

  /** Reports a failure, unless `key` is failing already. */
  failed(error: unknown, key: string): void {
    if (this.#failing.has(key)) return;
    this.#failing.add(key);
    this.#onError(error);
  }

  /** Notes a success: the next failure of `key` is reported again. */
  answered(key: string): void {
    this.#failing.delete(key);
  }
}
