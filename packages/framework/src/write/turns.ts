import { setImmediate as nextTurn } from "node:timers/promises";

/** How long work goes on before others have their turn, ms. */
const TURN = 10;

/** Work in many steps, between which others have their turn. */
export class Turns {
  #began: number = performance.now();

  /** Between two steps: resolves when it is our turn, which as a rule it still is. */
  async next(): Promise<void> {
    if (performance.now() - this.#began <= TURN) return;
    await nextTurn();
    this.#began = performance.now();
  }
}
