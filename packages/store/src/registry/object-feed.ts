import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { ListAndWatch } from "@virtual-workspaces/transport";
import { everything, pages } from "../engine/pages.ts";
import type { Batch, Entry, Store } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { parseStoredKey } from "./keys.ts";
import { bodyOf } from "./record.ts";

/** Where an object is in a store. */
export interface StoredPlace {
  /** What the keys of its collection begin with (`PersistentCollection.space`). */
  readonly space: string;
  readonly key: ObjectKey;
}

/** An object as it is kept, of whichever kind. */
export interface StoredObject extends StoredPlace {
  /** Its resource version. */
  readonly revision: number;
  /** Whether this is its first version since it came to be. */
  readonly isNew: boolean;
  /** Its JSON without `metadata.resourceVersion`, in the version in which it was written. Shared: never change it. */
  readonly bytes: Buffer;
}

/** Told of objects, in the order of the store's revisions. Must not throw. */
export interface ObjectFeedHandlers {
  /** All that there is is told from here on, up to {@link synced}: at first, and when history was missed. */
  readonly began?: () => void;
  /** An object is there, or has changed. */
  readonly set?: (object: StoredObject) => void;
  /** One is gone. What went while history was missed is not told. */
  readonly deleted?: (place: StoredPlace) => void;
  /** All that there is has been told. */
  readonly synced?: () => void;
}

/** What an {@link ObjectFeed} is made with. */
export interface ObjectFeedOptions {
  readonly store: Store;
  /** Told of failures of the store; the feed goes on trying. */
  readonly onError: (error: unknown) => void;
}

/** The backoff from a failing store, ms. */
const RETRY = { first: 100, most: 10_000, jitter: [1, 1] } as const;

/**
 * All objects in a store, of all kinds and logical clusters, told of as bytes by one watch: for what has to do with objects
 * of any kind, as a garbage collector has. Nothing is kept here, and nothing parsed.
 */
export class ObjectFeed implements AsyncDisposable {
  readonly #options: ObjectFeedOptions;
  readonly #handlers = new Set<ObjectFeedHandlers>();
  readonly #loop: ListAndWatch<number, Batch, number>;
  #position: number | undefined;
  #synced = Promise.withResolvers<void>();
  #isSynced = false;

  constructor(options: ObjectFeedOptions) {
    const { store, onError } = options;
    this.#options = options;
    this.#loop = new ListAndWatch(
      {
        position: () => this.#position,
        list: (signal) => this.#readAll(signal),
        replace: (revision) => {
          this.#position = revision;
        },
        watch: (after, signal) => store.watch(everything, { after, signal }),
        endsWithStream: true,
        apply: (batch) => this.#apply(batch),
        failed: (error) => {
          const code = isStoreError(error) ? error.code : undefined;
          if (code === "Closed") return "end";
          if (code === "Compacted") return "relist";
          onError(error);
          return "resume";
        },
        isStale: async (after, signal) => (await store.head({ signal })) < after,
      },
      RETRY,
    );
    this.#synced.promise.catch(() => undefined);
  }

  /** Resolves when all that was there is told; while history is told anew, when that is. Rejects at the end. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Whether {@link synced} has resolved. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Tells of objects from now on: before {@link start}, of all. */
  on(handlers: ObjectFeedHandlers): Disposable {
    this.#handlers.add(handlers);
    return { [Symbol.dispose]: () => void this.#handlers.delete(handlers) };
  }

  /** Begins to tell. {@link synced} says when all is told. */
  start(): void {
    this.#loop.start();
  }

  /** Ends it. Nobody is told anything any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#handlers.clear();
    await this.#loop[Symbol.asyncDispose]();
    this.#synced.reject(new Error("the feed of objects has ended"));
  }

  async #readAll(signal: AbortSignal): Promise<number> {
    // What was told in part is told anew.
    this.#position = undefined;
    if (this.#isSynced) {
      this.#isSynced = false;
      this.#synced = Promise.withResolvers<void>();
      this.#synced.promise.catch(() => undefined);
    }
    for (const handlers of this.#handlers) handlers.began?.();
    let revision = 0;
    for await (const page of pages(this.#options.store, everything, { signal })) {
      revision = page.revision;
      for (const entry of page.entries) this.#tell(entry.key, entry);
    }
    this.#isSynced = true;
    for (const handlers of this.#handlers) handlers.synced?.();
    this.#synced.resolve();
    return revision;
  }

  #apply({ revision, events }: Batch): boolean {
    for (const { key, entry } of events) this.#tell(key, entry);
    this.#position = revision;
    return true;
  }

  #tell(text: string, entry: Entry | undefined): void {
    const place = parseStoredKey(text);
    if (place === undefined) return;
    if (entry === undefined) {
      for (const handlers of this.#handlers) handlers.deleted?.(place);
      return;
    }
    const bytes = bodyOf(entry.value);
    // What nobody can read is left alone.
    if (bytes === undefined) return;
    const object = { ...place, revision: entry.modRevision, isNew: entry.createRevision === entry.modRevision, bytes };
    for (const handlers of this.#handlers) handlers.set?.(object);
  }
}
