import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Source, SourceHandlers, SourceStore } from "../controller/source.ts";
import { keyText } from "../controller/source.ts";
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
interface MergedObject<T> {
  readonly key: ObjectKey;
  copies: readonly [Copy<T>, ...Copy<T>[]];
  /** The uid of what was deleted at a twin of the endpoints that still show it. */
  deleted: string | undefined;
}

/**
 * Sources of several endpoints as one. An object that is seen through two of them is one, deleted when the last of them
 * says so. What an endpoint that has retired alone has shown stays until it is released; then it is gone, unless a twin, an
 * endpoint that is known to show the same objects, has said that it was deleted. A list that an endpoint sent before, and
 * that arrives after, another one's delete brings the object back until its own watch says so too.
 */
export class MergedSource<T extends KubeObject> implements EndpointSource<T> {
  readonly synced: Promise<void>;
  readonly store: SourceStore<T> = {
    get: (key) => this.#entries.get(keyText(key))?.copies[0].object,
    list: () => [...this.#entries.values()].map(({ copies }) => copies[0].object),
  };
  readonly #entries = new Map<string, MergedObject<T>>();
  readonly #handlers = new Set<SourceHandlers<T>>();
  readonly #retired = new Set<Endpoint>();
  /** Two that have shown one state of one object, uid and version, are two addresses of one server, and not two shards. */
  readonly #twins = new WeakMap<Endpoint, WeakSet<Endpoint>>();

  constructor(synced: Promise<void>) {
    this.synced = synced;
  }

  endpointOf(key: ObjectKey): Endpoint | undefined {
    return this.#entries.get(keyText(key))?.copies[0].endpoint;
  }

  on(handlers: SourceHandlers<T>): Disposable {
    const own = { ...handlers };
    this.#handlers.add(own);
    for (const { key, copies } of this.#entries.values()) own.added?.(copies[0].object, { key });
    return { [Symbol.dispose]: () => void this.#handlers.delete(own) };
  }

  /** Takes in what an endpoint shows. */
  attach(endpoint: Endpoint, source: Source<T>): Disposable {
    return source.on({
      added: (object, { key }) => this.#told(key, { endpoint, object }),
      updated: (object, _before, { key }) => this.#told(key, { endpoint, object }),
      deleted: (object, { key }) => this.#deleted(key, { endpoint, object }),
      lifecycle: ({ type, error }) => {
        if (type === "error") endpoint.report(error);
      },
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
    for (const [id, { key, copies, deleted: uid }] of [...this.#entries]) {
      const [{ object, endpoint: last }] = copies;
      if (last !== endpoint) continue;
      this.#entries.delete(id);
      const isDeleted = uid !== undefined && uid === object.metadata.uid;
      for (const { deleted, gone } of [...this.#handlers]) (isDeleted ? deleted : gone)?.(object, { key });
    }
  }

  #told(key: ObjectKey, copy: Copy<T>): void {
    const id = keyText(key);
    const entry = this.#entries.get(id);
    if (entry !== undefined) {
      this.#compare(entry, copy);
      this.#switch(entry, [copy, ...this.#others(entry, copy.endpoint)]);
      return;
    }
    this.#entries.set(id, { key, copies: [copy], deleted: undefined });
    for (const { added } of [...this.#handlers]) added?.(copy.object, { key });
  }

  #deleted(key: ObjectKey, { endpoint, object }: Copy<T>): void {
    const id = keyText(key);
    const entry = this.#entries.get(id);
    if (entry?.copies.some((copy) => copy.endpoint === endpoint) !== true) return;
    const [next, ...others] = this.#others(entry, endpoint);
    if (next !== undefined) {
      if (this.#twins.get(endpoint)?.has(next.endpoint) === true) entry.deleted = object.metadata.uid;
      this.#switch(entry, [next, ...others]);
      return;
    }
    this.#entries.delete(id);
    for (const { deleted } of [...this.#handlers]) deleted?.(object, { key });
  }

  #compare({ copies }: MergedObject<T>, { endpoint, object }: Copy<T>): void {
    for (const other of copies) {
      if (other.endpoint === endpoint || !isSame(other.object, object)) continue;
      this.#twinsOf(endpoint).add(other.endpoint);
      this.#twinsOf(other.endpoint).add(endpoint);
    }
  }

  #twinsOf(endpoint: Endpoint): WeakSet<Endpoint> {
    const twins = this.#twins.get(endpoint) ?? new WeakSet();
    this.#twins.set(endpoint, twins);
    return twins;
  }

  /** Copies at other endpoints; those of retired ones count for nothing where there is a later one. */
  #others({ copies }: MergedObject<T>, endpoint: Endpoint): Copy<T>[] {
    return copies.filter((copy) => copy.endpoint !== endpoint && !this.#retired.has(copy.endpoint));
  }

  #switch(entry: MergedObject<T>, copies: MergedObject<T>["copies"]): void {
    const before = entry.copies[0].object;
    entry.copies = copies;
    const { object } = copies[0];
    if (!isSame(before, object))
      for (const { updated } of [...this.#handlers]) updated?.(object, before, { key: entry.key });
  }
}

/** Versions of two shards have nothing to do with each other, but with the uid they tell one state from another. */
function isSame({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return a.uid !== undefined && a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}
