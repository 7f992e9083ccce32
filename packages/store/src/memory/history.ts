import type { History, HistoryPage, HistoryQuery } from "../engine/watch-hub.ts";
import type { VersionChange } from "./version.ts";

/** How much of the history is looked at in one turn of the event loop. */
const PAGE = 2000;
const PAGE_CHANGES = 256;

/** The changes since a revision, in memory. */
export class MemoryHistory implements History {
  /** The oldest revision that can be read after. */
  compacted: number;
  /** The revision of the first of the changes. */
  #first: number;
  readonly #changes: VersionChange[] = [];

  constructor(options: { readonly compacted: number; readonly head: number }) {
    this.compacted = options.compacted;
    this.#first = options.head + 1;
  }

  push(change: VersionChange): void {
    this.#changes.push(change);
  }

  read({ after, upTo, has }: HistoryQuery): HistoryPage {
    const changes: VersionChange[] = [];
    const last = Math.min(upTo, Math.max(after + 1, this.#first) + PAGE);
    let revision = Math.max(after, this.#first - 1);
    while (revision < last && changes.length < PAGE_CHANGES) {
      const change = this.#changes[++revision - this.#first];
      if (change?.events.some(({ order }) => has(order))) changes.push(change);
    }
    return { changes, upTo: revision };
  }

  /** Takes out some of the changes up to `compacted`, the oldest ones; none: there are no more. */
  prune(): readonly VersionChange[] {
    const count = Math.min(PAGE, this.#changes.length, Math.max(0, this.compacted + 1 - this.#first));
    this.#first += count;
    return this.#changes.splice(0, count);
  }

  clear(): void {
    this.#changes.length = 0;
  }
}
