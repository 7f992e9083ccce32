import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import {
  CacheEvent,
  type ChangesOptions,
  type Encoded,
  type Past,
  type ReadableCache,
} from "@virtual-workspaces/framework";
import type { Entry, StoreEvent } from "../store.ts";
import { answered, asAnswer } from "./answers.ts";
import type { Place } from "./store-keeper.ts";

/** Entries that are read in one go. */
const PAGE = 500;

/** What a store remembers of the objects of a kind: as much as has not been compacted. */
export class StorePast implements Past {
  readonly #place: Place;
  readonly #cache: Pick<ReadableCache, "head">;

  constructor(place: Place, cache: Pick<ReadableCache, "head">) {
    this.#place = place;
    this.#cache = cache;
  }

  async *changes(after: string, { signal }: ChangesOptions): AsyncGenerator<CacheEvent> {
    const { store, keys } = this.#place;
    const last = Number(this.#cache.head);
    const watch = store.watch(keys.all, { after: Number(after), previous: true, signal });
    watch.requestProgress();
    try {
      for await (const { revision, events } of watch) {
        if (revision <= last) for (const event of events) yield this.#event(event, revision);
        if (revision >= last) return;
      }
    } catch (error) {
      throw asAnswer(error);
    }
  }

  async *objects(
    version: string,
    range: Omit<ObjectKey, "name"> & { readonly after: string },
    { signal }: ChangesOptions,
  ): AsyncGenerator<Encoded> {
    const { store, keys } = this.#place;
    for (let { from, to } = keys.behind(range, range.after); ; ) {
      const options = { revision: Number(version), limit: PAGE, signal };
      const page = await answered(() => store.range({ from, to }, options));
      for (const entry of page.entries) yield this.#encoded(entry);
      const last = page.entries.at(-1);
      if (!page.more || last === undefined) return;
      from = `${last.key}\0`;
    }
  }

  #event({ entry, previous }: StoreEvent, revision: number): CacheEvent {
    return new CacheEvent(String(revision), entry && this.#encoded(entry), previous && this.#encoded(previous));
  }

  #encoded(entry: Entry): Encoded {
    const { keys, records } = this.#place;
    return records.read(entry, keys.parse(entry.key));
  }
}
