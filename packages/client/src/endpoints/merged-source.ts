import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import { keyOf, keyText } from "../controller/key.ts";
import type { Source, SourceHandlers, SourceStore } from "../controller/source.ts";
import type { Endpoint } from "./endpoint.ts";

/** The objects of a kind behind all endpoints, as one. */
export interface EndpointSource<T extends KubeObject> extends Source<T> {
  /** Where an object was seen last: its client is the one that reaches it. */
  endpointOf(key: ObjectKey): Endpoint | undefined;
}

interface Copy<T> {
  readonly endpoint: Endpoint;
  readonly object: T;
}

/** What was seen of an object, at one endpoint or, while it moves, at several: the last told first, and it is what counts. */
interface Entry<T> {
  readonly key: ObjectKey;
  copies: readonly [Copy<T>, ...Copy<T>[]];
}

/**
 * Sources of several endpoints as one. An object that is seen through two of them is one, deleted when the last of them
 * says so. What an endpoint that has retired alone has shown stays until it is released; then it is gone.
 */
export class MergedSource<T extends KubeObject> implements EndpointSource<T> {
  readonly synced: Promise<void>;
  readonly store: SourceStore<T> = {
    get: (key) => this.#entries.get(keyText(key))?.copies[0].object,
    list: () => [...this.#entries.values()].map(({ copies }) => copies[0].object),
  };
  readonly #entries = new Map<string, Entry<T>>();
  readonly #handlers = new Set<SourceHandlers<T>>();
  readonly #retired = new Set<Endpoint>();

  constructor(synced: Promise<void>) {
    this.synced = synced;
  }

  endpointOf(key: ObjectKey): Endpoint | undefined {
    return this.#entries.get(keyText(key))?.copies[0].endpoint;
  }

  subscribe(handlers: SourceHandlers<T>): Disposable {
    const own = { ...handlers };
    this.#handlers.add(own);
    for (const object of this.store.list()) own.added?.(object);
    return { [Symbol.dispose]: () => void this.#handlers.delete(own) };
  }

  /** Takes in what an endpoint shows. */
  attach(endpoint: Endpoint, source: Source<T>): Disposable {
    const key = (object: T): ObjectKey => source.keyOf?.(object) ?? keyOf(object);
    return source.subscribe({
      added: (object) => this.#told(key(object), { endpoint, object }),
      updated: (object) => this.#told(key(object), { endpoint, object }),
      deleted: (object) => this.#deleted(key(object), { endpoint, object }),
    });
  }

  /** An endpoint that has been detached shows nothing any more; what only it has shown is kept for now. */
  retire(endpoint: Endpoint): void {
    this.#retired.add(endpoint);
    for (const entry of this.#entries.values()) {
      const [next, ...others] = entry.copies.filter((copy) => copy.endpoint !== endpoint);
      if (next !== undefined) this.#switch(entry, [next, ...others]);
    }
  }

  /** What a retired endpoint alone has shown, and none other shows now, is gone. */
  release(endpoint: Endpoint): void {
    this.#retired.delete(endpoint);
    for (const [id, { copies }] of [...this.#entries]) {
      if (copies[0].endpoint !== endpoint) continue;
      this.#entries.delete(id);
      for (const { gone } of [...this.#handlers]) gone?.(copies[0].object);
    }
  }

  #told(key: ObjectKey, copy: Copy<T>): void {
    const id = keyText(key);
    const entry = this.#entries.get(id);
    if (entry !== undefined) return this.#switch(entry, [copy, ...this.#others(entry, copy.endpoint)]);
    this.#entries.set(id, { key, copies: [copy] });
    for (const { added } of [...this.#handlers]) added?.(copy.object);
  }

  #deleted(key: ObjectKey, { endpoint, object }: Copy<T>): void {
    const id = keyText(key);
    const entry = this.#entries.get(id);
    if (entry?.copies.some((copy) => copy.endpoint === endpoint) !== true) return;
    const [next, ...others] = this.#others(entry, endpoint);
    if (next !== undefined) return this.#switch(entry, [next, ...others]);
    this.#entries.delete(id);
    for (const { deleted } of [...this.#handlers]) deleted?.(object);
  }

  /** Copies at other endpoints; those of retired ones count for nothing where there is a later one. */
  #others({ copies }: Entry<T>, endpoint: Endpoint): Copy<T>[] {
    return copies.filter((copy) => copy.endpoint !== endpoint && !this.#retired.has(copy.endpoint));
  }

  #switch(entry: Entry<T>, copies: Entry<T>["copies"]): void {
    const before = entry.copies[0].object;
    entry.copies = copies;
    const { object } = copies[0];
    if (!isSame(before, object)) for (const { updated } of [...this.#handlers]) updated?.(object, before);
  }
}

/** Versions of two shards have nothing to do with each other, but with the uid they tell one state from another. */
function isSame({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return a.uid !== undefined && a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}
