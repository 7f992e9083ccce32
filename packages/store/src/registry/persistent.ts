import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ObjectOf, ResourceDefinition, TypedDefinition } from "@virtual-workspaces/framework";
import { KindVersions } from "@virtual-workspaces/framework/resource";
import {
  type Awaitable,
  type CacheLease,
  type Encoded,
  Registry,
  type RegistryOptions,
  type Scope,
  type Storage,
} from "@virtual-workspaces/framework/storage";
import { pages } from "../engine/pages.ts";
import type { Store } from "../store.ts";
import { apiErrorOf } from "./api-errors.ts";
import { Entries } from "./entries.ts";
import { EventHistory } from "./event-history.ts";
import { ObjectKeys } from "./keys.ts";
import { Records } from "./record.ts";
import type { RecentHistory } from "./reflector.ts";
import { SharedReflector } from "./shared-reflector.ts";
import { SimilarObjects } from "./similar-objects.ts";
import { StoreBackend, type StoredKind } from "./store-backend.ts";

/** Options of objects in a store. */
export interface PersistentOptions extends Pick<RegistryOptions, "garbageCollected" | "now"> {
  /**
   * Key space that separates these objects from others of the kind: up to 253 lower-case letters, digits, dots and dashes.
   * {@link removeKeySpace} deletes it. Security: two kinds with one key space can read each other's objects.
   * @default keys by group and plural
   */
  readonly keySpace?: string;
  /** Time to live of an object after its last write, in seconds, for kinds like events. @default unlimited */
  readonly ttl?: number;
  /**
   * History in memory from which watches resume; earlier events come from the store's history. A watch that falls further
   * behind ends and resumes there.
   */
  readonly history?: RecentHistory;
  /**
   * Whether lists and watches keep objects in memory as differences from similar ones, for kinds with many objects that differ
   * in names and times. Saves four fifths of their bytes or more; each use of an object costs some µs. @default false
   */
  readonly similar?: boolean;
  /** Time to keep objects in memory after the last list or watch, in ms. @default 60000 */
  readonly linger?: number;
  /**
   * Interval of progress requests while a kind is watched, in ms. Without them, bookmarks of a kind without writes would fall
   * behind the compacted revision.
   * @default 30000
   */
  readonly progressEvery?: number;
  /**
   * Called for failures of the store behind open watches, which resume later, and for unreadable objects.
   * @default a process warning
   */
  readonly onError?: (error: unknown, resource: ResourceDefinition) => void;
}

/** Objects of a logical cluster: {@link PersistentCollection.readCluster}. */
export interface ClusterObjects {
  /** Revision of the store that the objects show. */
  readonly revision: number;
  readonly objects: readonly Encoded[];
}

/** Number of objects of a logical cluster: {@link PersistentCollection.countIn}. */
export interface ClusterCount {
  /** Revision of the store at which they were counted. */
  readonly revision: number;
  /** Number of objects by namespace, "" for cluster-scoped ones; namespaces without objects are missing. */
  readonly byNamespace: Map<string, number>;
}

/** Change of an object: {@link PersistentCollection.changesAfter}. */
export interface ObjectChange {
  readonly key: ObjectKey;
  /** Object, `undefined` if it was deleted. */
  readonly object: Encoded | undefined;
  /** Revision of the change. */
  readonly revision: number;
}

/**
 * Collection of a kind's objects in a store, in all logical clusters: a storage with a promise-based API of a collection.
 * Resource versions are the store's revisions, shared by all kinds. Reads of one object go to the store. Lists and watches
 * use a cache, which holds the objects as JSON while there are lists or watches, and are as current as the store.
 */
export class PersistentCollection<T extends object = object>
  extends Registry<T, "later">
  implements Storage<ObjectOf<T>>
{
  /** False if other processes share the store. */
  readonly local: boolean;
  readonly #kind: StoredKind;
  readonly #keeper: StoreBackend;
  readonly #reflector: SharedReflector;

  /** @throws RangeError for a time to live below a second, a history without age, or an invalid key space */
  constructor(resource: TypedDefinition<T>, options: PersistentOptions & { readonly store: Store }) {
    const { store, keySpace, ttl, history, linger, progressEvery, similar, onError = warn, ...others } = options;
    if (ttl !== undefined && !(ttl >= 1)) throw new RangeError(`invalid ttl "${ttl}": use at least 1 second`);
    if (history?.age !== undefined && !(history.age > 0))
      throw new RangeError(`invalid history.age "${history.age}": use a number of seconds above zero`);
    const versions = new KindVersions(resource);
    const report = (error: unknown): void => tell(onError, error, resource);
    const keys = new ObjectKeys(resource, keySpace);
    const records = new Records(resource, versions);
    const kind: StoredKind = { store, keys, records, entries: new Entries(keys, records, report) };
    const keeper = new StoreBackend(kind, ttl);
    super(resource, { ...others, versions, keeper, when: "later" });
    this.local = store.shared !== true;
    this.#kind = kind;
    this.#keeper = keeper;
    this.#reflector = new SharedReflector(
      {
        ...kind,
        ...(similar === true && { similar: new SimilarObjects() }),
        pastOf: (cache) => new EventHistory(kind, cache),
      },
      { history, linger, progressEvery, onError: (error) => onError(error, resource) },
    );
  }

  get({ cluster }: Scope, { namespace, name }: ObjectKey): Awaitable<Encoded | undefined> {
    return this.#keeper.get({ cluster, namespace, name });
  }

  cache(): Awaitable<CacheLease> {
    return this.#reflector.lease();
  }

  /** Prefix of its keys in the store, which identifies the kind in an `ObjectFeed`. */
  get space(): string {
    return this.#kind.keys.space;
  }

  /**
   * Reads the objects of a logical cluster and namespace ("" for all) at one revision, in the order of their keys. It reads
   * only them from the store, in pages, and caches nothing.
   *
   * @throws ApiError 503 if the store is unavailable
   */
  async *objectsIn(
    place: Omit<ObjectKey, "name">,
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Encoded, void, undefined> {
    const { store, keys, entries } = this.#kind;
    try {
      for await (const page of pages(store, keys.behind(place, ""), options))
        for (const entry of page.entries) yield entries.read(entry);
    } catch (error) {
      throw apiErrorOf(error);
    }
  }

  /**
   * Reads the current objects of a logical cluster, with the revision. It reads only them and caches nothing.
   *
   * @throws ApiError 503 if the store is unavailable
   */
  async readCluster(cluster: string, options: { readonly signal?: AbortSignal } = {}): Promise<ClusterObjects> {
    const { store, keys, entries } = this.#kind;
    const objects: Encoded[] = [];
    let revision = 0;
    try {
      for await (const page of pages(store, keys.behind({ cluster, namespace: "" }, ""), options)) {
        revision = page.revision;
        for (const entry of page.entries) objects.push(entries.read(entry));
      }
    } catch (error) {
      throw apiErrorOf(error);
    }
    return { revision, objects };
  }

  /**
   * Counts the objects of a logical cluster in the store at one revision. It parses and keeps none of them.
   *
   * @throws ApiError 503 if the store is unavailable
   */
  async countIn(cluster: string, options: { readonly signal?: AbortSignal } = {}): Promise<ClusterCount> {
    const { store, keys } = this.#kind;
    const byNamespace = new Map<string, number>();
    let revision = 0;
    try {
      for await (const page of pages(store, keys.behind({ cluster, namespace: "" }, ""), options)) {
        revision = page.revision;
        for (const { key } of page.entries) {
          const { namespace } = keys.parse(key);
          byNamespace.set(namespace, (byNamespace.get(namespace) ?? 0) + 1);
        }
      }
    } catch (error) {
      throw apiErrorOf(error);
    }
    return { revision, byNamespace };
  }

  /**
   * Watches changes in all logical clusters in the order of revisions, for callers that cannot wait for the {@link cache}. It
   * caches nothing. Ends when the signal aborts or the store closes.
   *
   * @param options.after revision after which to start; the store's head for new changes only
   * @throws StoreError `Compacted` if that is no longer in the history, and other errors of the store
   */
  async *changesAfter(options: {
    readonly after: number;
    readonly signal: AbortSignal;
  }): AsyncGenerator<ObjectChange, void, undefined> {
    const { store, keys, entries } = this.#kind;
    for await (const { revision, events } of store.watch(keys.all, options))
      for (const { key, entry } of events)
        yield { key: keys.parse(key), object: entry && entries.read(entry, Buffer.allocUnsafeSlow), revision };
  }
}

/**
 * Keeps kinds in a store: replace a view's `Note.collection()` with `Note.collection(persistent(store))`.
 *
 * A kind is identified by group and plural, or by its key space. Objects of an older definition are converted to the current
 * one on read: converted, pruned, defaulted.
 *
 * @throws RangeError for a time to live below a second, a history without age, or an invalid key space
 *
 * @example
 * ```ts
 * import { defineResource } from "@virtual-workspaces/framework";
 * import { lmdbStore, persistent } from "@virtual-workspaces/store";
 *
 * const Book = defineResource({ group: "example.dev", version: "v1", kind: "Book", scope: "Namespaced" });
 *
 * await using store = await lmdbStore({ dir: "data" });
 * const books = Book.collection(persistent(store));
 * const served = Book.serve(books);
 * ```
 * @see docs/how-to/stores.md
 */
export function persistent(
  store: Store,
  options: PersistentOptions = {},
): <T extends object>(definition: TypedDefinition<T>) => PersistentCollection<T> {
  return (definition) => new PersistentCollection(definition, { ...options, store });
}

/** An exception thrown by `onError` is swallowed. */
function tell(onError: NonNullable<PersistentOptions["onError"]>, error: unknown, resource: ResourceDefinition): void {
  try {
    onError(error, resource);
  } catch (cause) {
    warn(cause, resource);
  }
}

function warn(error: unknown, { plural }: ResourceDefinition): void {
  process.emitWarning(`${plural} in a store: ${error instanceof Error ? error.message : String(error)}`);
}
