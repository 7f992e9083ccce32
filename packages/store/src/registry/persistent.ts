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
import { StoreBackend, type StoredKind } from "./store-backend.ts";

/** How objects are kept in a store. */
export interface PersistentOptions extends Pick<RegistryOptions, "garbageCollected" | "now"> {
  /**
   * Keeps the objects apart from all others of the kind, under a name of up to 253 lower-case letters, digits, dots and
   * dashes: kinds of one group and plural side by side in a store. {@link removeKeySpace} forgets them all. Whoever gives
   * two kinds one key space lets each read the other's objects. @default they are found by group and plural
   */
  readonly keySpace?: string;
  /** How long an object lives that is not written again, s: for kinds like events. @default for ever */
  readonly ttl?: number;
  /**
   * How much of the past is kept in memory, for watches that resume; what is older is read from the store's own history. A
   * watch that falls further behind ends, and resumes from there.
   */
  readonly history?: RecentHistory;
  /** How long objects stay in memory when nobody lists or watches them any more, ms. @default 60000 */
  readonly linger?: number;
  /**
   * How often the store is asked how far it is while a kind is watched, ms: without, bookmarks of a kind that nobody writes
   * would stand still while the store's history is compacted. @default 30000
   */
  readonly progressEvery?: number;
  /**
   * Told of failures of the store behind open watches, which go on when it is back, and of objects that cannot be read.
   * @default a process warning
   */
  readonly onError?: (error: unknown, resource: ResourceDefinition) => void;
}

/** What a logical cluster has of a kind: {@link PersistentCollection.readCluster}. */
export interface ClusterObjects {
  /** The store's revision at which they stood together. */
  readonly revision: number;
  readonly objects: readonly Encoded[];
}

/** A change of an object in a store: {@link PersistentCollection.changesAfter}. */
export interface ObjectChange {
  readonly key: ObjectKey;
  /** `undefined`: it was deleted. */
  readonly object: Encoded | undefined;
  /** The store's revision that made it. */
  readonly revision: number;
}

/**
 * The objects of a kind in a store, of all logical clusters: a storage that is written and read as a collection is, by an
 * author with promises. Resource versions are the store's revisions, one line for all its kinds. Reads of one object ask
 * the store; lists and watches are served from memory, which holds the objects of the kind as JSON while somebody lists
 * or watches them, and are no staler than the store.
 */
export class PersistentCollection<T extends object = object>
  extends Registry<T, "later">
  implements Storage<ObjectOf<T>>
{
  /** Unless other processes have the store as well. */
  readonly local: boolean;
  readonly #kind: StoredKind;
  readonly #keeper: StoreBackend;
  readonly #reflector: SharedReflector;

  /** @throws RangeError on a time to live below a second, a history of no age, or a malformed key space */
  constructor(resource: TypedDefinition<T>, options: PersistentOptions & { readonly store: Store }) {
    const { store, keySpace, ttl, history, linger, progressEvery, onError = warn, ...others } = options;
    if (ttl !== undefined && !(ttl >= 1)) throw new RangeError(`ttl is ${ttl}: give seconds, 1 or more`);
    if (history?.age !== undefined && !(history.age > 0))
      throw new RangeError(`history.age is ${history.age}: give seconds, above zero`);
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
      { ...kind, pastOf: (cache) => new EventHistory(kind, cache) },
      { history, linger, progressEvery, onError: (error) => onError(error, resource) },
    );
  }

  get({ cluster }: Scope, { namespace, name }: ObjectKey): Awaitable<Encoded | undefined> {
    return this.#keeper.get({ cluster, namespace, name });
  }

  cache(): Awaitable<CacheLease> {
    return this.#reflector.lease();
  }

  /** What the keys of its objects begin with in the store: an `ObjectFeed` names kinds so. */
  get space(): string {
    return this.#kind.keys.space;
  }

  /**
   * The objects of a logical cluster and namespace ("" for all of them), as they stand at one moment, in the order of their
   * keys. Read from the store, some at a time: nothing is kept in memory, and no others are read.
   *
   * @throws ApiError 503 when the store cannot be read
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
   * What a logical cluster has now, and as of which revision: no others are read, and nothing is kept in memory.
   *
   * @throws ApiError 503 when the store cannot be read
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
   * What changes from now on, in the order of revisions, in all logical clusters: for who cannot wait until the
   * {@link cache} has read all there is. Nothing is kept in memory. Ends when the signal aborts or the store is closed.
   *
   * @param options.after a revision: what was made later is told. The store's head, to be told of what is made from now on
   * @throws StoreError `Compacted` when that is not known any more, and what else the store throws
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
 * Keeps kinds in a store: where a view has `Note.collection()`, write `Note.collection(persistent(store))`.
 *
 * A kind is found again by its group and plural, or by its key space. What was written under an older definition is read as the kind is defined
 * now: converted, pruned, defaults filled in.
 *
 * @throws RangeError on a time to live below a second, a history of no age, or a malformed key space
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

/** What an author does about errors is not to be one more. */
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
