import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { Backoff, sleep } from "@virtual-workspaces/transport";
import { everything, pages } from "../engine/pages.ts";
import type { Entry, Store } from "../store.ts";
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

/** Between attempts on a failing store, ms: doubled each time. */
const RETRY = { first: 100, most: 10_000, jitter: [1, 1] } as const;

/**
 * All objects in a store, of all kinds and logical clusters, told of as bytes by one watch: for what has to do with objects
 * of any kind, as a garbage collector has. Nothing is kept here, and nothing parsed.
 */
export class ObjectFeed implements AsyncDisposable {
  readonly #options: ObjectFeedOptions;
  readonly #handlers = new Set<ObjectFeedHandlers>();
  readonly #stop = new AbortController();
  #synced = Promise.withResolvers<void>();
  #isSynced = false;
  #running: Promise<void> | undefined;

  constructor(options: ObjectFeedOptions) {
    this.#options = options;
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
    this.#running ??= this.#run();
  }

  /** Ends it. Nobody is told anything any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#handlers.clear();
    await this.#running;
    this.#synced.reject(new Error("the feed of objects has ended"));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const backoff = new Backoff(RETRY);
    for (let at: number | undefined; !signal.aborted; ) {
      try {
        // A store that was replaced by an older one is read anew.
        if (at !== undefined && (await this.#options.store.head({ signal })) < at) at = undefined;
        at ??= await this.#readAll();
        for await (const { revision, events } of this.#options.store.watch(everything, { after: at, signal })) {
          for (const { key, entry } of events) this.#tell(key, entry);
          at = revision;
          backoff.reset();
        }
        return;
      } catch (error) {
        if (signal.aborted || (isStoreError(error) && error.code === "Closed")) return;
        if (isStoreError(error) && error.code === "Compacted") at = undefined;
        else this.#options.onError(error);
      }
      await sleep(backoff.next(), { signal, ref: false });
    }
  }

  async #readAll(): Promise<number> {
    if (this.#isSynced) {
      this.#isSynced = false;
      this.#synced = Promise.withResolvers<void>();
      this.#synced.promise.catch(() => undefined);
    }
    for (const handlers of this.#handlers) handlers.began?.();
    let revision = 0;
    for await (const page of pages(this.#options.store, everything, { signal: this.#stop.signal })) {
      revision = page.revision;
      for (const entry of page.entries) this.#tell(entry.key, entry);
    }
    this.#isSynced = true;
    for (const handlers of this.#handlers) handlers.synced?.();
    this.#synced.resolve();
    return revision;
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
