import { CLUSTER_ANNOTATION, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import {
  CacheEvent,
  type CacheLease,
  type CacheListener,
  decodeObject,
  type Encoded,
  type Objects,
  type Past,
  type Position,
  type ReadableCache,
  type Snapshot,
} from "@virtual-workspaces/framework/storage";
import {
  ORIGINAL_RESOURCE_VERSION_ANNOTATION,
  ORIGINAL_UID_ANNOTATION,
  SHARD_ANNOTATION,
} from "@virtual-workspaces/kcp/names";

/** Returns an object as if it belonged to another logical cluster, as kcp does. */
export function localTo<T extends KubeObject>(object: T, { cluster }: { readonly cluster: string }): T {
  const {
    [SHARD_ANNOTATION]: _shard,
    [ORIGINAL_UID_ANNOTATION]: _uid,
    [ORIGINAL_RESOURCE_VERSION_ANNOTATION]: _version,
    ...annotations
  } = object.metadata.annotations ?? {};
  const local = { ...annotations, [CLUSTER_ANNOTATION]: cluster };
  return { ...object, metadata: { ...object.metadata, annotations: local } };
}

/** Logical cluster of the objects, and the one in which they appear. */
export interface Relocation {
  readonly from: string;
  readonly to: string;
}

/** A cache in use, with the number of its leases. */
interface Used {
  readonly cache: LocalCache;
  readonly events: LocalEvents;
  leases: number;
}

/**
 * Caches with the objects of one logical cluster in others. They store nothing themselves. All leases of one cache in one logical
 * cluster have the same cache, so that an event is encoded once for all their watches.
 */
export class LocalCaches {
  readonly #from: string;
  readonly #used = new WeakMap<ReadableCache, Map<string, Used>>();

  /** @param from logical cluster of the objects */
  constructor(from: string) {
    this.#from = from;
  }

  /** Returns a lease of the cache as it appears in a logical cluster. */
  lease(lease: CacheLease, to: string): CacheLease {
    const all = this.#used.get(lease.cache) ?? new Map<string, Used>();
    this.#used.set(lease.cache, all);
    const used = all.get(to) ?? this.#made(lease.cache, to);
    all.set(to, used);
    used.leases += 1;
    const release = new DisposableStack();
    release.use(lease);
    release.defer(() => {
      used.leases -= 1;
      if (used.leases === 0) all.delete(to);
    });
    return {
      ...lease,
      cache: used.cache,
      ...(lease.past !== undefined && { past: used.events.past(lease.past) }),
      [Symbol.dispose]: () => release.dispose(),
    };
  }

  #made(source: ReadableCache, to: string): Used {
    const relocation = { from: this.#from, to };
    const events = new LocalEvents(relocation);
    return { cache: new LocalCache(source, { ...relocation, events }), events, leases: 0 };
  }
}

/** An object in the other logical cluster. Its bytes are made when they are read. */
class LocalObject implements Encoded {
  readonly key: ObjectKey;
  readonly resourceVersion: string;
  readonly uid: string;
  readonly labels: Encoded["labels"];
  readonly fields: Encoded["fields"];
  readonly #source: Encoded;

  constructor(source: Encoded, cluster: string) {
    const { key, resourceVersion, uid, labels, fields } = source;
    this.key = { ...key, cluster };
    this.resourceVersion = resourceVersion;
    this.uid = uid;
    this.labels = labels;
    this.fields = fields;
    this.#source = source;
  }

  get bytes(): Buffer {
    return Buffer.from(stringifyJson(localTo(decodeObject(this.#source), this.key)));
  }
}

/** Events in the other logical cluster. Each is made once, so that it is rendered once for all watches. */
class LocalEvents {
  readonly #relocation: Relocation;
  readonly #known = new WeakMap<CacheEvent, CacheEvent>();

  constructor(relocation: Relocation) {
    this.#relocation = relocation;
  }

  of(event: CacheEvent): CacheEvent {
    const known = this.#known.get(event);
    if (known !== undefined) return known;
    const local = (source: Encoded | undefined) => source && new LocalObject(source, this.#relocation.to);
    const made = new CacheEvent(event.version, local(event.object), local(event.previous));
    this.#known.set(event, made);
    return made;
  }

  /** Returns the history of forwarded objects, which has no past objects. */
  past({ changes, waits }: Past): Past {
    return {
      ...(waits !== undefined && { waits }),
      changes: async (after, options) => {
        const { events, version } = await changes(after, options);
        return { events: events.map((event) => this.of(event)), version };
      },
    };
  }
}

class LocalCache implements ReadableCache {
  readonly #source: ReadableCache;
  readonly #relocation: Relocation;
  readonly #events: LocalEvents;

  constructor(source: ReadableCache, { events, ...relocation }: Relocation & { readonly events: LocalEvents }) {
    this.#source = source;
    this.#relocation = relocation;
    this.#events = events;
  }

  get head(): string {
    return this.#source.head;
  }

  get size(): number {
    return this.#source.size;
  }

  get first(): number {
    return this.#source.first;
  }

  get next(): number {
    return this.#source.next;
  }

  get(key: ObjectKey): Encoded | undefined {
    const { from, to } = this.#relocation;
    const source = key.cluster === to ? this.#source.get({ ...key, cluster: from }) : undefined;
    return source && new LocalObject(source, to);
  }

  snapshot(): Snapshot {
    return this.#inside(this.#source.snapshot());
  }

  at(version: string): Snapshot | "expired" | "ahead" {
    const snapshot = this.#source.at(version);
    return typeof snapshot === "string" ? snapshot : this.#inside(snapshot);
  }

  isForeign(version: string): boolean {
    return this.#source.isForeign(version);
  }

  position(version: string): Position {
    return this.#source.position(version);
  }

  reached(version: string): boolean {
    return this.#source.reached(version);
  }

  reach(version: string, options: { readonly signal: AbortSignal; readonly timeout: number }): Promise<void> {
    return this.#source.reach(version, options);
  }

  event(position: number): CacheEvent {
    return this.#events.of(this.#source.event(position));
  }

  listen(listener: CacheListener): Disposable {
    return this.#source.listen({
      event: (event) => listener.event(this.#events.of(event)),
      expired: (message, rejected) => listener.expired(message, rejected),
      advanced: () => listener.advanced?.(),
      forgetting: (before) => listener.forgetting?.(before),
    });
  }

  #inside({ objects, ...at }: Snapshot): Snapshot {
    return { ...at, objects: new LocalObjects(objects, this.#relocation) };
  }
}

/** Objects in the other logical cluster, in the same order: all keys of the source begin with its logical cluster. */
class LocalObjects implements Objects {
  readonly #source: Objects;
  readonly #relocation: Relocation;

  constructor(source: Objects, relocation: Relocation) {
    this.#source = source;
    this.#relocation = relocation;
  }

  get size(): number {
    return this.#source.size;
  }

  get(key: string): Encoded | undefined {
    const source = this.#source.get(this.#there(key));
    return source && this.#local(source);
  }

  *entries(from = ""): Generator<[string, Encoded]> {
    for (const [key, source] of this.#source.entries(this.#there(from))) yield [this.#here(key), this.#local(source)];
  }

  *values(from = ""): Generator<Encoded> {
    for (const source of this.#source.values(this.#there(from))) yield this.#local(source);
  }

  forRange(...[low, high, includeHigh, tell]: Parameters<Objects["forRange"]>): unknown {
    return this.#source.forRange(this.#there(low), this.#there(high), includeHigh, (key, source) =>
      tell(this.#here(key), this.#local(source)),
    );
  }

  #local(source: Encoded): Encoded {
    return new LocalObject(source, this.#relocation.to);
  }

  #here(key: string): string {
    return this.#relocation.to + key.slice(this.#relocation.from.length);
  }

  /** Returns the key in the source, or one with the same objects behind it. */
  #there(key: string): string {
    const { from, to } = this.#relocation;
    if (key.startsWith(`${to}/`)) return from + key.slice(to.length);
    return key < to ? "" : `${from}/\uffff`;
  }
}
