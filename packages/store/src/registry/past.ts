import {
  CacheEvent,
  type ChangesOptions,
  type Encoded,
  type Past,
  type PastChanges,
  type PastRange,
  type ReadableCache,
} from "@virtual-workspaces/framework";
import { pages } from "../engine/pages.ts";
import type { StoreEvent } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { asAnswer } from "./answers.ts";
import type { Place } from "./store-keeper.ts";

/** What is told at once: a client that reads it slowly holds on to it. */
const SLICE = { events: 1000, bytes: 256 * 1024 } as const;

/** What a store remembers of the objects of a kind: as much as has not been compacted. */
export class StorePast implements Past {
  readonly #place: Place;
  readonly #cache: Pick<ReadableCache, "head">;
  /** What is being read, by what it comes after: those who ask for the same are given the same. */
  readonly #reading = new Map<string, Promise<PastChanges>>();

  constructor(place: Place, cache: Pick<ReadableCache, "head">) {
    this.#place = place;
    this.#cache = cache;
  }

  changes(after: string): Promise<PastChanges> {
    let reading = this.#reading.get(after);
    if (reading === undefined) {
      reading = this.#read(after).finally(() => this.#reading.delete(after));
      this.#reading.set(after, reading);
    }
    return reading;
  }

  async *objects(version: string, range: PastRange, { signal }: ChangesOptions): AsyncGenerator<Encoded> {
    const { store, keys, entries } = this.#place;
    const options = {
      revision: Number(version),
      signal,
      ...(range.atOnce === undefined ? {} : { first: range.atOnce }),
    };
    try {
      for await (const page of pages(store, keys.behind(range, range.after), options))
        for (const entry of page.entries) yield entries.read(entry);
    } catch (error) {
      throw asAnswer(error);
    }
  }

  async #read(after: string): Promise<PastChanges> {
    const { store, keys } = this.#place;
    const last = Number(this.#cache.head);
    const told: CacheEvent[] = [];
    let bytes = 0;
    const watch = store.watch(keys.all, { after: Number(after), previous: true });
    watch.requestProgress();
    try {
      for await (const { revision, events } of watch) {
        if (revision > last) return { events: told, version: String(last) };
        for (const event of events) told.push(this.#event(event, revision));
        bytes += events.reduce((sum, { entry }) => sum + (entry?.value.length ?? 0), 0);
        if (revision === last || told.length >= SLICE.events || bytes >= SLICE.bytes)
          return { events: told, version: String(revision) };
      }
    } catch (error) {
      throw asAnswer(error);
    }
    // A watch ends by itself only when the store is closed: what was told is not all.
    throw asAnswer(StoreError.closed(store.name));
  }

  #event({ entry, previous }: StoreEvent, revision: number): CacheEvent {
    const { entries } = this.#place;
    return new CacheEvent(String(revision), entry && entries.read(entry), previous && entries.read(previous));
  }
}
