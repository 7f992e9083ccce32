/** One value for all that are equal, as long as somebody has it. */
export class Interned<T extends object> {
  readonly #known = new Map<string, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<string>((text) => {
    if (this.#known.get(text)?.deref() === undefined) this.#known.delete(text);
  });

  /** @param value plain data, which nobody changes */
  of(value: T): T {
    const text = JSON.stringify(value);
    const known = this.#known.get(text)?.deref();
    if (known !== undefined) return known;
    this.#known.set(text, new WeakRef(value));
    this.#gone.register(value, text);
    return value;
  }
}
