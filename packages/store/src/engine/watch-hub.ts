import type { KeyRange, Watch, WatchOptions } from "../store.ts";
import type { Change } from "./change.ts";
import { HubWatch } from "./hub-watch.ts";

/** What of the history a watch reads. */
export interface HistoryQuery {
  /** Changes above this revision… */
  readonly after: number;
  /** …up to this one. */
  readonly upTo: number;
  /** Whether the key with this {@link sortable} text belongs to it: other events may be left out, to save reading. */
  has(order: string): boolean;
  /** Whether events should say what stood there before: they may all the same. */
  readonly previous: boolean;
}

/** A part of the history, of a size that can be read without keeping others waiting. */
export interface HistoryPage {
  readonly changes: readonly Change[];
  /** There is nothing else up to this revision; below what was asked for: read on after it. */
  readonly upTo: number;
}

/** The changes that an engine keeps. */
export interface History {
  /** The oldest revision that can be read after. */
  readonly compacted: number;
  /** Reads at once: what is published meanwhile would be missed. Asked for nothing below `compacted`. */
  read(query: HistoryQuery): HistoryPage;
}

/** Where the watches of an engine in this process meet what is written: in the history, then live. */
export class WatchHub {
  readonly history: History;
  /** What the store calls itself, for errors. */
  readonly name: string;
  readonly #live = new Set<HubWatch>();
  #head: number;
  #closed = false;

  constructor(history: History, options: { readonly name: string; readonly head: number }) {
    this.history = history;
    this.name = options.name;
    this.#head = options.head;
  }

  /** The newest revision that was published: watches know nothing beyond. */
  get head(): number {
    return this.#head;
  }

  get closed(): boolean {
    return this.#closed;
  }

  watch(range: KeyRange, options: WatchOptions): Watch {
    return new HubWatch(this, range, options);
  }

  /** Tells of a change that is done and can be read from the history; before it is acknowledged, in order. */
  publish(change: Change): void {
    this.#head = change.revision;
    for (const watch of this.#live) watch.offer(change);
  }

  /** From now on a watch hears of every change, until it is left or full. */
  join(watch: HubWatch): void {
    this.#live.add(watch);
  }

  leave(watch: HubWatch): void {
    this.#live.delete(watch);
  }

  /** Ends all watches. */
  close(): void {
    this.#closed = true;
    for (const watch of this.#live) watch.end();
  }
}
