import { setImmediate as turn } from "node:timers/promises";
import type { Batch, Entry, KeyRange, Watch, WatchOptions } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { ownBytes } from "./bytes.ts";
import { SortableRange } from "./key-order.ts";
import { checkCount, checkRange } from "./limits.ts";

/** Changes that wait for a reader; one that is slower reads them from the history, where they are anyway. */
const QUEUE = 64;
const QUEUE_BYTES = 1024 * 1024;

/** What happened to a key, as an engine keeps it: the values are never handed out, and never change. */
export interface KeptEvent {
  readonly key: string;
  /** The key's {@link sortable} text. */
  readonly order: string;
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
}

/** All that happened at one revision. */
export interface Change {
  readonly revision: number;
  readonly events: readonly KeptEvent[];
}

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

/** A watch of an engine in this process. It costs nothing before it is read. */
class HubWatch implements Watch, AsyncIterator<Batch, undefined> {
  readonly #hub: WatchHub;
  readonly #bounds: KeyRange;
  readonly #range: SortableRange;
  readonly #options: WatchOptions;
  readonly #bornClosed: boolean;
  readonly #end = (): void => this.end();
  #queue: Change[] = [];
  #queuedBytes = 0;
  /** All that happened up to this revision has been told or waits in the queue; while live, up to the hub's head. */
  #position: number;
  #live = false;
  #begun = false;
  #ended = false;
  #asked = false;
  #wake: (() => void) | undefined;

  constructor(hub: WatchHub, range: KeyRange, options: WatchOptions) {
    this.#hub = hub;
    this.#bounds = range;
    this.#range = new SortableRange(range);
    this.#options = options;
    this.#position = options.after;
    this.#bornClosed = hub.closed;
  }

  [Symbol.asyncIterator](): AsyncIterator<Batch, undefined> {
    return this;
  }

  requestProgress(): void {
    this.#asked = true;
    this.#wake?.();
  }

  /** Takes what was published, if it can. */
  offer(change: Change): void {
    if (change.revision <= this.#position) return;
    const own = this.#own(change);
    if (own === undefined) return;
    if (this.#queue.length >= QUEUE || this.#queuedBytes >= QUEUE_BYTES) {
      this.#position = change.revision - 1;
      this.#live = false;
      this.#hub.leave(this);
      return;
    }
    this.#push(own);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#queue = [];
    this.#hub.leave(this);
    this.#options.signal?.removeEventListener("abort", this.#end);
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Batch, undefined>> {
    try {
      if (!this.#begun) this.#begin();
      const batch = await this.#next();
      return batch === undefined ? { done: true, value: undefined } : { done: false, value: batch };
    } catch (error) {
      this.end();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    this.end();
    return { done: true, value: undefined };
  }

  #begin(): void {
    this.#begun = true;
    if (this.#bornClosed) throw StoreError.closed(this.#hub.name);
    checkRange(this.#bounds);
    checkCount("the revision to watch after", this.#options.after, 0);
    const { signal } = this.#options;
    if (signal?.aborted === true) this.end();
    else signal?.addEventListener("abort", this.#end, { once: true });
  }

  /** The next batch, `undefined` at the end. */
  async #next(): Promise<Batch | undefined> {
    for (let reads = 0; !(this.#ended || this.#hub.closed); ) {
      const change = this.#queue.shift();
      if (change !== undefined) return this.#tell(change);
      if (!this.#live) {
        if (reads++ > 0) await turn(); // others have their turn between the pages of a long history
        this.#catchUp();
      } else if (this.#asked) {
        this.#asked = false;
        return { revision: this.#hub.head, events: [] };
      } else await this.#woken();
    }
    return undefined;
  }

  /** Reads a page of the history; whoever has reached its end hears of the rest as it happens. */
  #catchUp(): void {
    const { history, head } = this.#hub;
    if (this.#position < history.compacted) throw StoreError.compacted(this.#position, history.compacted);
    if (this.#position < head) {
      const has = (order: string): boolean => this.#range.has(order);
      const previous = this.#options.previous === true;
      const { changes, upTo } = history.read({ after: this.#position, upTo: head, has, previous });
      for (const change of changes) {
        const own = this.#own(change);
        if (own !== undefined) this.#push(own);
      }
      this.#position = upTo;
    }
    if (this.#position < head) return;
    this.#live = true;
    this.#hub.join(this);
  }

  #push(change: Change): void {
    this.#queue.push(change);
    this.#queuedBytes += bytesOf(change);
  }

  /** The part of a change that is in the range. */
  #own(change: Change): Change | undefined {
    const { revision, events } = change;
    const own = events.filter(({ order }) => this.#range.has(order));
    if (own.length === events.length) return change;
    return own.length === 0 ? undefined : { revision, events: own };
  }

  #tell(change: Change): Batch {
    this.#queuedBytes -= bytesOf(change);
    const previous = this.#options.previous === true;
    return {
      revision: change.revision,
      events: change.events.map((event) => ({
        key: event.key,
        entry: event.entry && handOut(event.entry),
        previous: previous && event.previous ? handOut(event.previous) : undefined,
      })),
    };
  }

  async #woken(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
  }
}

/** An entry for whoever asked, with a value of its own. */
export function handOut({ key, value, createRevision, modRevision, lease }: Entry): Entry {
  const own = ownBytes(value);
  return lease === undefined
    ? { key, value: own, createRevision, modRevision }
    : { key, value: own, createRevision, modRevision, lease };
}

const valueBytes = (event: KeptEvent): number => (event.entry?.value.length ?? 0) + (event.previous?.value.length ?? 0);

function bytesOf({ events }: Change): number {
  return events.reduce((sum, event) => sum + valueBytes(event), 0);
}
