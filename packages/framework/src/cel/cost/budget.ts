/** Error of expressions that together have used up their budget, with Kubernetes' text. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";

  constructor() {
    super("validation failed due to running out of cost budget, no further validation rules will be run");
  }
}

/** Steps, of some 100 ns each, that several expressions may take together. */
export class Budget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** @throws BudgetError if fewer are left */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetError();
  }
}
