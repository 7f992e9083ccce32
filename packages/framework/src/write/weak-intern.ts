/** Values by content, kept only as long as somebody uses them. */
export class WeakIntern<Value extends object> {
  readonly #values = new Map<string, WeakRef<Value>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (this.#values.get(key)?.deref() === undefined) this.#values.delete(key);
  });

  /** How many there are, those included that are about to go. */
  get size(): number {
    return this.#values.size;
  }

  /** The value of a key; made when nobody has it. */
  get(key: string, make: () => Value): Value {
    const known = this.#values.get(key)?.deref();
    if (known !== undefined) return known;
    const value = make();
    this.#values.set(key, new WeakRef(value));
    this.#gone.register(value, key);
    return value;
  }
}
