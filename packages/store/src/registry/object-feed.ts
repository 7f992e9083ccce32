import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { ListAndWatch, untilAborted } from "@virtual-workspaces/transport";
import { everything, pages } from "../engine/pages.ts";
import type { Batch, Entry, Store, Watch } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { parseStoredKey } from "./keys.ts";
import { bodyOf } from "./record.ts";

/** Location of an object in a store. */
export interface StoredPlace {
  /** Prefix of its collection's keys (`PersistentCollection.space`). */
  readonly space: string;
  readonly key: ObjectKey;
}

/** Stored object of any kind. */
export interface StoredObject extends StoredPlace {
  /** Resource version. */
  readonly revision: number;
  /** Whether this is the first version since its creation. */
  readonly isNew: boolean;
  /** JSON in its written version, without `metadata.resourceVersion`. Shared: never modify it. */
  readonly bytes: Buffer;
}

/** Event handlers, called in the order of revisions. They must not throw. */
export interface ObjectFeedHandlers {
  /** Called before a full list, which ends with {@link synced}: at the start, and after a gap in the history. */
  readonly began?: () => void;
  /** Called for a new or changed object. */
  readonly set?: (object: StoredObject) => void;
  /** Called for a deleted object, but not for deletions in a gap. @param revision revision of the deletion */
  readonly deleted?: (place: StoredPlace, revision: number) => void;
  /** Called after the last object of a full list. */
  readonly synced?: () => void;
}

/** Options of an {@link ObjectFeed}. */
export interface ObjectFeedOptions {
  readonly store: Store;
  /** Called for failures of the store; the feed retries. */
  readonly onError: (error: unknown) => void;
}

/** Backoff of a failing store, in ms. */
const RETRY = { first: 100, most: 10_000, jitter: [1, 1] } as const;

/**
 * Feed of all objects in a store, of all kinds and logical clusters, as bytes from one watch: for consumers of any kind, such
 * as a garbage collector. It keeps and parses nothing.
 */
export class ObjectFeed implements AsyncDisposable {
  readonly #options: ObjectFeedOptions;
  readonly #handlers = new Set<ObjectFeedHandlers>();
  readonly #loop: ListAndWatch<number, Batch, number>;
  /** Callers of {@link reached}. */
  readonly #waiting = new Set<{ readonly revision: number; readonly resolve: () => void }>();
  #position: number | undefined;
  #watch: Watch | undefined;
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
          this.#moveTo(revision);
        },
        watch: (after, signal) => {
          this.#watch = store.watch(everything, { after, signal });
          if (this.#waiting.size > 0) this.#watch.requestProgress();
          return this.#watch;
        },
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

  /** Resolves after the full list, including the current one after a gap. Rejects when the feed ends. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Whether {@link synced} has resolved. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Revision up to which all events have been delivered, 0 before the first full list and during others. */
  get position(): number {
    return this.#position ?? 0;
  }

  /**
   * Resolves when all events up to a revision of the store have been delivered.
   *
   * @param signal ends the wait, also for a feed that has ended
   * @throws the reason of the signal
   */
  async reached(revision: number, signal: AbortSignal): Promise<void> {
    if (this.position >= revision) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { revision, resolve };
    this.#waiting.add(waiting);
    this.#watch?.requestProgress();
    try {
      await untilAborted(promise, signal);
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  /** Registers handlers; before {@link start} to receive every object. */
  on(handlers: ObjectFeedHandlers): Disposable {
    this.#handlers.add(handlers);
    return { [Symbol.dispose]: () => void this.#handlers.delete(handlers) };
  }

  /** Starts the feed. {@link synced} resolves after the full list. */
  start(): void {
    this.#loop.start();
  }

  /** Stops the feed. Handlers receive no more events. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#handlers.clear();
    await this.#loop[Symbol.asyncDispose]();
    this.#synced.reject(new Error("object feed: stopped"));
  }

  async #readAll(signal: AbortSignal): Promise<number> {
    // An interrupted list starts again.
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
      for (const entry of page.entries) this.#tell(entry.key, entry, revision);
    }
    this.#isSynced = true;
    for (const handlers of this.#handlers) handlers.synced?.();
    this.#synced.resolve();
    return revision;
  }

  #apply({ revision, events }: Batch): boolean {
    for (const { key, entry } of events) this.#tell(key, entry, revision);
    this.#moveTo(revision);
    return true;
  }

  #moveTo(revision: number): void {
    this.#position = revision;
    for (const waiting of this.#waiting) if (waiting.revision <= revision) waiting.resolve();
  }

  #tell(text: string, entry: Entry | undefined, revision: number): void {
    const place = parseStoredKey(text);
    if (place === undefined) return;
    if (entry === undefined) {
      for (const handlers of this.#handlers) handlers.deleted?.(place, revision);
      return;
    }
    const bytes = bodyOf(entry.value);
    // Unreadable objects are skipped.
    if (bytes === undefined) return;
    const object = { ...place, revision: entry.modRevision, isNew: entry.createRevision === entry.modRevision, bytes };
    for (const handlers of this.#handlers) handlers.set?.(object);
  }
}
