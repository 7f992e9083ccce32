import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Source, SourceHandlers, SourceStore } from "../controller/source.ts";
import { keyText } from "../controller/source.ts";
import type { Endpoint } from "./endpoint.ts";

/** Objects of a kind behind all endpoints, merged. */
export interface EndpointSource<T extends KubeObject> extends Source<T> {
  /** Returns the endpoint that last showed an object. Its client reaches the object. */
  endpointOf(key: ObjectKey): Endpoint | undefined;
}

interface Copy<T> {
  readonly endpoint: Endpoint;
  readonly object: T;
}

/** Copies of an object at one endpoint, or at several while it moves. The most recent copy is first, and counts. */
interface MergedObject<T> {
  readonly key: ObjectKey;
  copies: readonly [Copy<T>, ...Copy<T>[]];
  /** The uid that a twin of the remaining endpoints has reported as deleted. */
  deleted: string | undefined;
}

/**
 * Merges the sources of several endpoints. An object at two of them is one object, deleted when the last endpoint deletes it.
 * Objects that only a retired endpoint has shown stay until its release. Then they are gone, or deleted if a twin (an
 * endpoint known to show the same objects) reported that. If a list that predates another endpoint's delete arrives after it,
 * the object reappears until that endpoint's own watch deletes it.
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
  /** Endpoints that have shown the same uid and version of an object: two addresses of one server, not two shards. */
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

  /** Adds the events of an endpoint. */
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

  /** Marks a detached endpoint as retired. Objects that only it has shown are kept for now. */
  retire(endpoint: Endpoint): void {
    this.#retired.add(endpoint);
    for (const entry of this.#entries.values()) {
      const [next, ...others] = entry.copies.filter((copy) => copy.endpoint !== endpoint);
      if (next !== undefined) this.#switch(entry, [next, ...others]);
    }
  }

  /** Removes the objects that only this retired endpoint has shown. */
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

  /** Returns the copies at other endpoints that are not retired. */
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

/** Compares uid and version: versions of two shards are unrelated, but unique together with the uid. */
function isSame({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return a.uid !== undefined && a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}
