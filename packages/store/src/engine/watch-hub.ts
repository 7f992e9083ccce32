import { setImmediate as turn } from "node:timers/promises";
import type { Batch, Entry, KeyRange, Watch, WatchOptions } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { ownBytes } from "./bytes.ts";
import { SortableRange } from "./key-order.ts";
import { checkCount, checkRange } from "./limits.ts";

/** Maximum number of changes that wait for a reader. A slower reader reads them from the history instead. */
const QUEUE = 64;
const QUEUE_BYTES = 1024 * 1024;

/** Event in an engine's history. Its values are immutable and never handed out. */
export interface KeptEvent {
  readonly key: string;
  /** Key as {@link sortable} text. */
  readonly order: string;
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
}

/** All events of one revision. */
export interface Change {
  readonly revision: number;
  readonly events: readonly KeptEvent[];
}

/** Part of the history that a watch reads. */
export interface HistoryQuery {
  /** Excludes this revision and earlier ones. */
  readonly after: number;
  /** Last revision to include. */
  readonly upTo: number;
  /** Whether the watch includes the key with this {@link sortable} text. The history may omit other events. */
  has(order: string): boolean;
  /** Whether events need their previous entry. They may have it anyway. */
  readonly previous: boolean;
}

/** Part of the history, small enough not to block the event loop. */
export interface HistoryPage {
  readonly changes: readonly Change[];
  /** Revision up to which the page is complete. If it is below the requested one, continue there. */
  readonly upTo: number;
}

/** History of changes that an engine keeps. */
export interface History {
  /** Oldest revision after which reads are possible. */
  readonly compacted: number;
  /** Reads synchronously, so that no publication is missed. Not called for revisions below `compacted`. */
  read(query: HistoryQuery): HistoryPage;
}

/** Connects the watches of an in-process engine with its writes: first from the history, then live. */
export class WatchHub {
  readonly history: History;
  /** Name of the store, for errors. */
  readonly name: string;
  readonly #live = new Set<HubWatch>();
  #head: number;
  #closed = false;

  constructor(history: History, options: { readonly name: string; readonly head: number }) {
    this.history = history;
    this.name = options.name;
    this.#head = options.head;
  }

  /** Newest published revision, beyond which watches see nothing. */
  get head(): number {
    return this.#head;
  }

  get closed(): boolean {
    return this.#closed;
  }

  watch(range: KeyRange, options: WatchOptions): Watch {
    return new HubWatch(this, range, options);
  }

  /** Publishes a change that the history contains, in order, before the write is acknowledged. */
  publish(change: Change): void {
    this.#head = change.revision;
    for (const watch of this.#live) watch.offer(change);
  }

  /** Adds a watch to the live ones, until it leaves or its queue is full. */
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

/** Watch of an in-process engine. It costs nothing before the first read. */
class HubWatch implements Watch, AsyncIterator<Batch, undefined> {
  readonly #hub: WatchHub;
  readonly #bounds: KeyRange;
  readonly #range: SortableRange;
  readonly #options: WatchOptions;
  readonly #bornClosed: boolean;
  readonly #end = (): void => this.end();
  #queue: Change[] = [];
  #queuedBytes = 0;
  /** Revision up to which all events were delivered or queued; while live, the hub's head. */
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

  /** Queues a published change if there is room. */
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
    checkCount("revision to watch after", this.#options.after, 0);
    const { signal } = this.#options;
    if (signal?.aborted === true) this.end();
    else signal?.addEventListener("abort", this.#end, { once: true });
  }

  /** Returns the next batch, `undefined` at the end. */
  async #next(): Promise<Batch | undefined> {
    for (let reads = 0; !(this.#ended || this.#hub.closed); ) {
      const change = this.#queue.shift();
      if (change !== undefined) return this.#tell(change);
      if (!this.#live) {
        if (reads++ > 0) await turn(); // yields to the event loop between the pages of a long history
        this.#catchUp();
      } else if (this.#asked) {
        this.#asked = false;
        return { revision: this.#hub.head, events: [] };
      } else await this.#woken();
    }
    return undefined;
  }

  /** Reads a page of the history. At its end the watch becomes live. */
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

  /** Returns the part of a change that is in the range. */
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

/** Returns an entry with a copy of its value, for the caller. */
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
