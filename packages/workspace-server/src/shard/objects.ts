import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import { type PersistentCollection, type PersistentOptions, persistent, type Store } from "@virtual-workspaces/store";
import type { Indexers } from "./filed-keys.ts";
import { Tracked } from "./tracked.ts";

/**
 * How much of the past is in memory of each kind, at most. There are forty, and an event takes twice the bytes that count here:
 * watches that resume from further back, and lists as of then, are read from the store.
 */
const HISTORY = { events: 512, bytes: 2 ** 20 } as const;

/** The objects of a shard, of all its logical clusters: a collection for each kind, in one store, with one line of versions. */
export class ShardObjects implements Disposable {
  readonly store: Store;
  readonly #onError: PersistentOptions["onError"];
  readonly #collections = new Map<string, unknown>();
  readonly #tracked: Tracked<object>[] = [];

  constructor(store: Store, onError?: PersistentOptions["onError"]) {
    this.store = store;
    this.#onError = onError;
  }

  /** The collection of a kind, the same for all who ask. @param options count when it is made, the first time */
  of<T extends object>(resource: TypedDefinition<T>, options: PersistentOptions = {}): PersistentCollection<T> {
    const name = `${resource.plural}.${resource.version}.${resource.group}`;
    const known = this.#collections.get(name) as PersistentCollection<T> | undefined;
    if (known !== undefined) return known;
    const onError = this.#onError === undefined ? {} : { onError: this.#onError };
    const made = persistent(this.store, { garbageCollected: true, history: HISTORY, ...onError, ...options })(resource);
    this.#collections.set(name, made);
    return made;
  }

  /** Follows a kind from {@link start} on. */
  track<T extends object>(resource: TypedDefinition<T>, indexers: Indexers<ObjectOf<T>> = {}): Tracked<T> {
    const tracked = new Tracked<T>(this.of(resource), indexers);
    this.#tracked.push(tracked as unknown as Tracked<object>);
    return tracked;
  }

  /** Begins to follow what is tracked, as {@link Tracked.start} says. @throws ApiError 503 when the store cannot be read */
  async start(held?: Promise<unknown>): Promise<void> {
    await Promise.all(this.#tracked.map((tracked) => tracked.start(held)));
  }

  /** Who follows anything from here until this is disposed of is told together what there is: see {@link Tracked.gather}. */
  gather(): Disposable {
    const stack = new DisposableStack();
    for (const tracked of this.#tracked) stack.use(tracked.gather());
    return stack;
  }

  [Symbol.dispose](): void {
    for (const tracked of this.#tracked) tracked[Symbol.dispose]();
  }
}
