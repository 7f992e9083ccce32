import type { Encoded } from "@virtual-workspaces/framework/storage";

/**
 * Progress of an informer's initial read: the logical clusters known completely, and the deletions since. Versions of a store
 * are one sequence, so reads and events apply in any order if they are newer than the known state. Memory: a number for each
 * loaded logical cluster and each deleted object, and the name of each object read alone.
 */
export class InitialRead {
  /** Revision at which all objects of a logical cluster are known. */
  readonly #clusters = new Map<string, number>();
  /** Names of objects read alone. */
  readonly #names = new Set<string>();
  /** Revision of each deletion. */
  readonly #deleted = new Map<string, number>();
  /** Revision after which all changes arrive as events. */
  #watchedAfter: number;

  /** @param watchedAfter revision after which changes arrive as events */
  constructor(watchedAfter: number) {
    this.#watchedAfter = watchedAfter;
  }

  /** Whether all objects of a logical cluster are known, and its changes arrive as events. */
  knows(cluster: string): boolean {
    return this.#clusters.has(cluster);
  }

  /** Returns the revision up to which the object of a name is known. @param there the known object */
  knownAt(text: string, there: Encoded | undefined): number {
    const own = there === undefined ? this.#deleted.get(text) : Number(there.resourceVersion);
    return Math.max(own ?? 0, this.#clusters.get(text.slice(0, text.indexOf("/"))) ?? 0);
  }

  /** Records that all objects of a logical cluster are known at a revision; changes missed since revoke it. */
  knew(cluster: string, revision: number): void {
    if (revision >= this.#watchedAfter) this.#clusters.set(cluster, revision);
  }

  /** Whether the object of a name was read alone and is known. */
  knowsName(text: string): boolean {
    return this.#names.has(text);
  }

  /** Records that an object was read: later changes arrive as events. */
  knewName(text: string): void {
    if (this.#watchedAfter < Number.POSITIVE_INFINITY) this.#names.add(text);
  }

  /** Makes the next use of a logical cluster read it again. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  deleted(text: string, revision: number): void {
    this.#deleted.set(text, revision);
  }

  /** Records that an object of that name exists again. */
  set(text: string): void {
    this.#deleted.delete(text);
  }

  /** Discards all knowledge after missed changes. @param watchedAfter revision after which changes arrive as events again */
  lost(watchedAfter: number): void {
    this.#watchedAfter = watchedAfter;
    this.#clusters.clear();
    this.#names.clear();
  }
}
