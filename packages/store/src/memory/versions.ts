import SortedBTree from "sorted-btree";
import { compareSortable } from "../engine/key-order.ts";
import type { Change, History, HistoryPage, HistoryQuery, KeptEvent } from "../engine/watch-hub.ts";
import type { Entry } from "../store.ts";

/** Number of changes to read in one turn of the event loop. */
const PAGE = 2000;
const PAGE_CHANGES = 256;

/** Value of a key from a revision on. */
export interface Version {
  readonly modRevision: number;
  /** Entry; `undefined` for a deletion. */
  readonly entry: Entry | undefined;
  /** Previous version, if the history has it. */
  older: Version | undefined;
}

/** Event with a reference to its version. */
export interface VersionEvent extends KeptEvent {
  readonly version: Version;
}

/** Change in the history. */
export interface VersionChange extends Change {
  readonly events: readonly VersionEvent[];
}

/** Returns the version at a revision. */
export function versionAt(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest;
  while (version !== undefined && version.modRevision > revision) version = version.older;
  return version;
}

/** Changes since a revision, in memory. */
export class MemoryHistory implements History {
  /** Oldest revision after which reads are possible. */
  compacted: number;
  /** Revision of the first change. */
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

  /** Removes and returns some of the oldest changes up to `compacted`; none if there are no more. */
  prune(): readonly VersionChange[] {
    const count = Math.min(PAGE, this.#changes.length, Math.max(0, this.compacted + 1 - this.#first));
    this.#first += count;
    return this.#changes.splice(0, count);
  }

  clear(): void {
    this.#changes.length = 0;
  }
}

/** Every key in the history, by its sortable text, with its newest version. */
interface Tree {
  get(order: string): Version | undefined;
  set(order: string, version: Version): unknown;
  delete(order: string): boolean;
  clear(): void;
  /** Visits keys from `low` to below `high` until the callback returns a `break`. */
  forRange(low: string, high: string, includeHigh: false, visit: (order: string, version: Version) => Visit): unknown;
}

type Visit = { readonly break: true } | undefined;

// CommonJS package: under Node the class is a property of the default export, elsewhere it is that export.
const module = SortedBTree as unknown as { readonly default?: unknown };

const BTree = (module.default ?? module) as new (entries: undefined, compare: typeof compareSortable) => Tree;

export function emptyTree(): Tree {
  return new BTree(undefined, compareSortable);
}
