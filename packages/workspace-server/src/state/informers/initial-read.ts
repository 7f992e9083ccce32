import type { Encoded } from "@virtual-workspaces/framework/storage";

/**
 * How far an informer's initial read has come: which logical clusters are known as a whole, and what was deleted meanwhile.
 * Reads and events count in whichever order they come if they are newer than what is known: versions of a store are one line.
 * Memory: a number for each logical cluster that was asked for, and for each object that was deleted meanwhile, and
 * the name of each object that was asked for.
 */
export class InitialRead {
  /** As of which revision all is known, by logical cluster. */
  readonly #clusters = new Map<string, number>();
  /** Names that were read alone. */
  readonly #names = new Set<string>();
  /** When what is not there was deleted. */
  readonly #deleted = new Map<string, number>();
  /** All changes after this revision come as events. */
  #watchedAfter: number;

  /** @param watchedAfter changes after this revision come as events */
  constructor(watchedAfter: number) {
    this.#watchedAfter = watchedAfter;
  }

  /** Whether all is known of a logical cluster, and its changes come as events. */
  knows(cluster: string): boolean {
    return this.#clusters.has(cluster);
  }

  /** Up to which revision it is known what there is of a name. @param there what is there, as far as is known */
  knownAt(text: string, there: Encoded | undefined): number {
    const own = there === undefined ? this.#deleted.get(text) : Number(there.resourceVersion);
    return Math.max(own ?? 0, this.#clusters.get(text.slice(0, text.indexOf("/"))) ?? 0);
  }

  /** All of a logical cluster is known as of a revision: unless changes were missed since, it stays so. */
  knew(cluster: string, revision: number): void {
    if (revision >= this.#watchedAfter) this.#clusters.set(cluster, revision);
  }

  /** Whether it is known what there is of a name that was read alone. */
  knowsName(text: string): boolean {
    return this.#names.has(text);
  }

  /** An object was read: from then on its changes come as events. */
  knewName(text: string): void {
    if (this.#watchedAfter < Number.POSITIVE_INFINITY) this.#names.add(text);
  }

  /** It is read again when it is asked for the next time. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  deleted(text: string, revision: number): void {
    this.#deleted.set(text, revision);
  }

  /** There is one of that name again. */
  set(text: string): void {
    this.#deleted.delete(text);
  }

  /** Changes were missed: what was known is not known any more. @param watchedAfter changes after this revision come as events again */
  lost(watchedAfter: number): void {
    this.#watchedAfter = watchedAfter;
    this.#clusters.clear();
    this.#names.clear();
  }
}
