import { Turns } from "@virtual-workspaces/client";
import type { SpaceName } from "./space-name.ts";

/**
 * Spaces of which something has changed. Each is looked at, at once; of many some a little later, since what it takes to reach hundreds would hold up
 * everything else. Who asks about one does not wait.
 */
export class Looks {
  readonly #look: (name: SpaceName) => void;
  readonly #waiting = new Set<SpaceName>();
  readonly #turns = new Turns();
  #isLooking = false;
  #done = Promise.resolve();

  constructor(look: (name: SpaceName) => void) {
    this.#look = look;
  }

  /** Resolves when all those that have been added have been looked at. */
  get done(): Promise<void> {
    return this.#done;
  }

  add(name: SpaceName): void {
    this.#waiting.add(name);
    if (!this.#isLooking) this.#done = this.#lookAtAll();
  }

  /** Looks at one now, if it waits. */
  see(name: SpaceName): void {
    if (this.#waiting.delete(name)) this.#look(name);
  }

  /** Looks at all that wait now. */
  seeAll(): void {
    for (const name of this.#waiting) this.see(name);
  }

  async #lookAtAll(): Promise<void> {
    this.#isLooking = true;
    try {
      for (const name of this.#waiting) {
        const rest = this.#turns.rest();
        if (rest !== undefined) await rest;
        this.see(name);
      }
    } finally {
      this.#isLooking = false;
    }
  }
}
