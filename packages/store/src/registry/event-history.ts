import {
  CacheEvent,
  type ChangesOptions,
  type Encoded,
  type Past,
  type PastChanges,
  type PastRange,
  type ReadableCache,
} from "@virtual-workspaces/framework/storage";
import { pages } from "../engine/pages.ts";
import type { Batch, StoreEvent } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { apiErrorOf } from "./api-errors.ts";
import type { StoredKind } from "./store-backend.ts";

/** Maximum size of one result, because a slow client retains it. */
const SLICE = { events: 1000, bytes: 256 * 1024 } as const;
/** Time that a paused read is kept, in ms, and number of them: to start a read in the past takes etcd 100 ms. */
const PAUSED = { time: 2000, most: 4 } as const;

type Reading = AsyncIterator<Batch>;

/** History of a kind in a store, up to its compacted revision. */
export class EventHistory implements Past {
  readonly #kind: StoredKind;
  readonly #cache: Pick<ReadableCache, "head">;
  /** Reads in progress, by start version. Concurrent callers share them. */
  readonly #reading = new Map<string, Promise<PastChanges>>();
  /** Paused reads by the version they have reached, oldest first. */
  readonly #paused = new Map<string, { readonly reading: Reading; readonly over: NodeJS.Timeout }>();

  constructor(kind: StoredKind, cache: Pick<ReadableCache, "head">) {
    this.#kind = kind;
    this.#cache = cache;
  }

  changes(after: string): Promise<PastChanges> {
    let changes = this.#reading.get(after);
    if (changes === undefined) {
      changes = this.#read(after).finally(() => this.#reading.delete(after));
      this.#reading.set(after, changes);
    }
    return changes;
  }

  async *objects(version: string, range: PastRange, { signal }: ChangesOptions): AsyncGenerator<Encoded> {
    const { store, keys, entries } = this.#kind;
    const options = {
      revision: Number(version),
      signal,
      ...(range.atOnce === undefined ? {} : { first: range.atOnce }),
    };
    try {
      for await (const page of pages(store, keys.behind(range, range.after), options))
        for (const entry of page.entries) yield entries.read(entry);
    } catch (error) {
      throw apiErrorOf(error);
    }
  }

  async #read(after: string): Promise<PastChanges> {
    const reading = this.#resumed(after) ?? this.#begun(after);
    const last = Number(this.#cache.head);
    const events: CacheEvent[] = [];
    let bytes = 0;
    try {
      for (;;) {
        const { done, value } = await reading.next();
        // A watch ends by itself only when the store closes, and is then incomplete.
        if (done === true) throw StoreError.closed(this.#kind.store.name);
        const { revision } = value;
        if (revision <= last) for (const event of value.events) events.push(this.#event(event, revision));
        bytes += value.events.reduce((sum, { entry }) => sum + (entry?.value.length ?? 0), 0);
        if (revision >= last) {
          await reading.return?.();
          return { events, version: String(last) };
        }
        if (events.length < SLICE.events && bytes < SLICE.bytes) continue;
        this.#pause(String(revision), reading);
        return { events, version: String(revision) };
      }
    } catch (error) {
      throw apiErrorOf(error);
    }
  }

  #begun(after: string): Reading {
    const { store, keys } = this.#kind;
    const watch = store.watch(keys.all, { after: Number(after), previous: true });
    watch.requestProgress();
    return watch[Symbol.asyncIterator]();
  }

  #resumed(after: string): Reading | undefined {
    const paused = this.#paused.get(after);
    clearTimeout(paused?.over);
    this.#paused.delete(after);
    return paused?.reading;
  }

  #pause(version: string, reading: Reading): void {
    this.#leave(version);
    const [oldest] = this.#paused.keys();
    if (oldest !== undefined && this.#paused.size >= PAUSED.most) this.#leave(oldest);
    const over = setTimeout(() => this.#leave(version), PAUSED.time).unref();
    this.#paused.set(version, { reading, over });
  }

  #leave(version: string): void {
    this.#resumed(version)
      ?.return?.()
      .catch(() => undefined);
  }

  #event({ entry, previous }: StoreEvent, revision: number): CacheEvent {
    const { entries } = this.#kind;
    return new CacheEvent(String(revision), entry && entries.read(entry), previous && entries.read(previous));
  }
}
