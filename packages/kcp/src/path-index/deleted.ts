import { ownCopy } from "./texts.ts";

/** So many of the last that were deleted are remembered, and at most twice as many. */
export const REMEMBERED = 5000;

/** How a Workspace is called among all that can be deleted: no logical cluster is called so. */
export const workspaceKey = (cluster: string, name: string): string => `${cluster}\0${name}`;

/**
 * The last objects that a shard has deleted, by name. They are in two generations, of which the older one is forgotten as a whole: so
 * the first of a Set need not be looked for, which takes the longer the more have gone before it.
 */
export class Deleted {
  #recent = new Set<string>();
  #older = new Set<string>();

  has(key: string): boolean {
    return this.#recent.has(key) || this.#older.has(key);
  }

  add(key: string): void {
    if (this.#recent.size === REMEMBERED) {
      this.#older = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(ownCopy(key));
  }

  /** It is there again. */
  remove(key: string): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }
}
