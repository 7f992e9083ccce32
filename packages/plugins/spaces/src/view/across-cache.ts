import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type {
  CacheEvent,
  CacheListener,
  Encoded,
  Position,
  ReadableCache,
  Snapshot,
} from "@virtual-workspaces/framework";

/** The objects of several Spaces, for whoever knows of none: one that is asked for by its name alone may be in any of them. */
export class AcrossCache implements ReadableCache {
  readonly #cache: ReadableCache;
  readonly #find: (key: ObjectKey) => Encoded | undefined;

  /** @param find the object of a name, in whichever Space it is. Throws where it is in several */
  constructor(cache: ReadableCache, find: (key: ObjectKey) => Encoded | undefined) {
    this.#cache = cache;
    this.#find = find;
  }

  get head(): string {
    return this.#cache.head;
  }

  get size(): number {
    return this.#cache.size;
  }

  get first(): number {
    return this.#cache.first;
  }

  get next(): number {
    return this.#cache.next;
  }

  get(key: ObjectKey): Encoded | undefined {
    return key.cluster === "" ? this.#find(key) : this.#cache.get(key);
  }

  snapshot(): Snapshot {
    return this.#cache.snapshot();
  }

  at(version: string): Snapshot | "expired" | "ahead" {
    return this.#cache.at(version);
  }

  isForeign(version: string): boolean {
    return this.#cache.isForeign(version);
  }

  position(version: string): Position {
    return this.#cache.position(version);
  }

  reached(version: string): boolean {
    return this.#cache.reached(version);
  }

  reach(version: string, options: Parameters<ReadableCache["reach"]>[1]): Promise<void> {
    return this.#cache.reach(version, options);
  }

  event(position: number): CacheEvent {
    return this.#cache.event(position);
  }

  listen(listener: CacheListener): Disposable {
    return this.#cache.listen(listener);
  }
}
