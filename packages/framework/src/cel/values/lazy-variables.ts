/** Value of the variable `variables`: each member is evaluated when an expression first needs it, and once. */
export class LazyVariables extends Map<string, unknown> {
  readonly #evaluate: (name: string) => unknown;
  readonly #failed = new Map<string, unknown>();

  /** @param evaluate returns a variable; `undefined` if there is none of that name. What it throws is thrown each time */
  constructor(evaluate: (name: string) => unknown) {
    super();
    this.#evaluate = evaluate;
  }

  override get(name: string): unknown {
    if (this.#failed.has(name)) throw this.#failed.get(name);
    if (super.has(name)) return super.get(name);
    try {
      const value = this.#evaluate(name);
      super.set(name, value);
      return value;
    } catch (error) {
      this.#failed.set(name, error);
      throw error;
    }
  }
}
