import SortedBTree from "sorted-btree";
import { compareSortable } from "../engine/key-order.ts";
import type { Change, History, HistoryPage, HistoryQuery, KeptEvent } from "../engine/watch-hub.ts";
import type { Entry } from "../store.ts";

/** How much of the history is looked at in one turn of the event loop. */
const PAGE = 2000;
const PAGE_CHANGES = 256;

/** What a key's value was from a revision on. */
export interface Version {
  readonly modRevision: number;
  /** `undefined`: it was deleted. */
  readonly entry: Entry | undefined;
  /** What it was before, as far as the history goes. */
  older: Version | undefined;
}

/** An event that leads to the version that it made. */
export interface VersionEvent extends KeptEvent {
  readonly version: Version;
}

/** What the history keeps of a revision. */
export interface VersionChange extends Change {
  readonly events: readonly VersionEvent[];
}

/** What it was at a revision. */
export function versionAt(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest;
  while (version !== undefined && version.modRevision > revision) version = version.older;
  return version;
}

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

/** Every key that the history knows, by its sortable text, with its newest version. */
interface Tree {
  get(order: string): Version | undefined;
  set(order: string, version: Version): unknown;
  delete(order: string): boolean;
  clear(): void;
  /** Goes from `low` to below `high` until the callback gives a `break`. */
  forRange(low: string, high: string, includeHigh: false, visit: (order: string, version: Version) => Visit): unknown;
}

type Visit = { readonly break: true } | undefined;

// The package is CommonJS: its class arrives as a property of the default export under Node, as that export elsewhere.
const module = SortedBTree as unknown as { readonly default?: unknown };

const BTree = (module.default ?? module) as new (entries: undefined, compare: typeof compareSortable) => Tree;

export function emptyTree(): Tree {
  return new BTree(undefined, compareSortable);
}
