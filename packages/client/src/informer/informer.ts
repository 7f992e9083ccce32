import type { KindReference, ObjectOf, StoredObject } from "@virtual-workspaces/apimachinery";
import { onAbort } from "@virtual-workspaces/transport";
import type { InformerEvent, InformerHandlers, LifecycleEvent } from "./events.ts";
import { type Counters, counters, type InformerMetrics } from "./events.ts";
import { checkOptions, type InformerOptions, type InformerProblem } from "./informer-options.ts";
import { ReadFailures } from "./read-failures.ts";
import { Reflector } from "./reflector.ts";
import type { Indexer } from "./store.ts";
import { ObjectStore, type Store } from "./store.ts";
import { EventQueue, HandlerSubscriber, QueueSubscriber, type Subscriber } from "./subscribers.ts";

/** Options of {@link Informer.events}. */
export interface EventsOptions {
  /** Number of events that wait for a slow reader before those of one object are merged. @default 1000 */
  readonly limit?: number;
}

/**
 * Cache of a server's objects, updated by list and watch, with events for each change (cache.SharedIndexInformer). It runs
 * until it is stopped and recovers from all failures of server and network, which it reports as lifecycle events. Handlers
 * and iterators share one cache and one connection. Security: anyone with the informer can read everything that its client
 * may read.
 *
 * Memory: one copy of each object after `transform`, and the events that wait in iterators; 50 to 60 KiB for an informer
 * without objects, mostly its connection.
 *
 * @example
 * ```ts
 * import { Client, Informer } from "@virtual-workspaces/client";
 * import { defineResource } from "@virtual-workspaces/framework";
 *
 * const ConfigMap = defineResource({ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced" });
 *
 * await using client = await Client.fromKubeconfig();
 * const informer = new Informer({ resource: client.resource(ConfigMap) });
 * informer.on({
 *   added: ({ metadata }) => console.log("added", metadata.name),
 *   deleted: ({ metadata }) => console.log("deleted", metadata.name),
 * });
 * await using _running = informer.start();
 * ```
 * @see docs/how-to/informers.md
 */
export class Informer<T extends object = object> implements AsyncDisposable {
  readonly kind: KindReference<T>;
  readonly #options: InformerOptions<T>;
  readonly #store: ObjectStore<T>;
  readonly #reflector: Reflector<T>;
  readonly #counters: Counters = counters();
  readonly #subscribers = new Set<Subscriber<StoredObject<T>>>();
  readonly #queues = new Set<EventQueue<StoredObject<T>>>();
  readonly #failures: ReadFailures;
  /** Called for failures that nothing else handles. */
  readonly #controllers = new Set<(error: Error) => void>();
  #running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  #synced = unsettled();

  /** @throws Error for an option out of range */
  constructor(options: InformerOptions<T>) {
    const { resource, indexers = {}, transform } = options;
    checkOptions(options);
    this.kind = resource.kind;
    this.#options = options;
    this.#store = new ObjectStore<T>({
      cluster: resource.cluster === "*" ? "" : resource.cluster,
      transform: (object) => (transform === undefined ? object : this.#transformed(object, transform)),
    });
    for (const [name, indexer] of Object.entries(indexers)) this.addIndexer(name, indexer);
    this.#failures = new ReadFailures({
      resource,
      failed: (error) => this.#failed(error),
      recovered: (text) => {
        if (!this.#isHandled) process.emitWarning(text, WARNING);
      },
    });
    this.#reflector = new Reflector<T>({
      ...options,
      store: this.#store,
      counters: this.#counters,
      sink: {
        changes: (events) => this.#changes(events),
        lifecycle: (event, wasOpen) => this.#lifecycle(event, wasOpen),
      },
    });
  }

  /** Cached objects: none before the first sync, and the last known state while the server is unavailable. */
  get store(): Store<StoredObject<T>> {
    return this.#store;
  }

  /**
   * Resolves when the store is complete after the current start, or the next one if the informer is not running. That is
   * after the first list, or, if a stopped informer resumes, once its watch is open. Rejects if the informer stops before.
   */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Whether a watch is open or is being renewed. */
  get connected(): boolean {
    return this.#reflector.connection.connected;
  }

  /** Time of the last response, event or bookmark. Renewals keep it within a few seconds while the server is available. */
  get lastEventAt(): Date | undefined {
    return this.#reflector.connection.lastEventAt;
  }

  /** Current metrics. */
  get metrics(): InformerMetrics {
    return { ...this.#counters, objects: this.#store.size, connected: this.connected ? 1 : 0 };
  }

  /**
   * Starts list and watch. A stopped informer resumes at its last version, so that handlers receive only the differences; if
   * the server no longer has that version, it computes them from a new list. Does nothing while it runs; while it stops, it
   * starts again afterwards.
   *
   * @param signal stops it, like {@link stop}
   */
  start(signal?: AbortSignal): this {
    const before = this.#running;
    if (before?.stop.signal.aborted === false) return this;
    if (before !== undefined) this.#stopped();
    this.#failures.reset();
    const stop = new AbortController();
    const linked = onAbort(signal, () => stop.abort());
    const run = async (): Promise<void> => {
      await before?.done;
      await this.#reflector.run(stop.signal);
      linked[Symbol.dispose]();
      if (this.#running !== running) return;
      this.#running = undefined;
      this.#stopped();
    };
    const running = { stop, done: Promise.resolve().then(run) };
    this.#running = running;
    return this;
  }

  /** Closes the connection and ends the iterators; resolves when both are done. Handlers and store stay. */
  async stop(): Promise<void> {
    this.#running?.stop.abort();
    await this.#running?.done;
  }

  /** Same as {@link stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Registers handlers, which receive events one after another. Before this returns, they receive all cached objects as
   * added. Handlers run synchronously, so use a queue or an iterator for slow work.
   *
   * @returns a disposable that removes the handlers
   */
  on(handlers: InformerHandlers<StoredObject<T>>): Disposable {
    const subscriber = new HandlerSubscriber(handlers, this.#report);
    return this.#subscribe(subscriber);
  }

  /**
   * Returns an iterator of events at the reader's pace, first the cached objects as added. It ends when the informer stops;
   * leaving the loop unsubscribes. A slow reader receives the changes of one object merged.
   */
  events({ limit = 1000 }: EventsOptions = {}): AsyncIterableIterator<InformerEvent<StoredObject<T>>> {
    const queue: EventQueue<StoredObject<T>> = new EventQueue({
      limit,
      lagging: (waiting) => this.#lifecycle({ type: "lagging", waiting }),
      closed: () => {
        subscription[Symbol.dispose]();
        this.#queues.delete(queue);
      },
    });
    const subscription = this.#subscribe(new QueueSubscriber(queue));
    this.#queues.add(queue);
    return queue;
  }

  /** @internal Registers a callback of a controller, for failures to read. */
  onFailure(failed: (error: Error) => void): Disposable {
    const own = (error: Error): void => failed(error);
    this.#controllers.add(own);
    return { [Symbol.dispose]: () => void this.#controllers.delete(own) };
  }

  /** Adds an indexer, and indexes the cached objects with it. @throws Error if the name is taken */
  addIndexer(name: string, indexer: Indexer<StoredObject<T>>): void {
    this.#store.addIndexer(name, (object) => {
      try {
        return indexer(object);
      } catch (error) {
        this.#report(errorOf(error), { during: "indexer" });
        return [];
      }
    });
  }

  /** Ends everything that waits for this run. */
  #stopped(): void {
    this.#synced.reject(new Error(`informer of ${this.kind.plural}: stopped before it was synced`));
    this.#synced = unsettled();
    for (const queue of [...this.#queues]) queue.end();
  }

  #subscribe(subscriber: Subscriber<StoredObject<T>>): Disposable {
    for (const [key, object] of this.#store.entries()) subscriber.event({ type: "added", key, object, initial: true });
    this.#subscribers.add(subscriber);
    return { [Symbol.dispose]: () => void this.#subscribers.delete(subscriber) };
  }

  /** A subscriber that joins during delivery has all these objects from the store already. */
  #changes(events: readonly InformerEvent<StoredObject<T>>[]): void {
    const subscribers = [...this.#subscribers];
    for (const event of events) {
      this.#counters[event.type] += 1;
      for (const subscriber of subscribers) if (this.#subscribers.has(subscriber)) subscriber.event(event);
    }
  }

  #lifecycle(event: LifecycleEvent, wasOpen = false): void {
    if (event.type === "synced") this.#synced.resolve();
    for (const subscriber of [...this.#subscribers]) subscriber.lifecycle(event);
    this.#failures.see(event, wasOpen);
  }

  /** Whether the program learns of failures by other means than process warnings. */
  get #isHandled(): boolean {
    return this.#options.onError !== undefined || this.#hearsLifecycle || this.#controllers.size > 0;
  }

  get #hearsLifecycle(): boolean {
    return [...this.#subscribers].some(({ hearsLifecycle }) => hearsLifecycle);
  }

  #failed(error: Error): void {
    const { onError } = this.#options;
    if (!this.#isHandled) process.emitWarning(error.message, WARNING);
    else if (onError === undefined) {
      if (!this.#hearsLifecycle) for (const failed of [...this.#controllers]) failed(error);
    } else
      try {
        onError(error);
      } catch (thrown) {
        this.#report(errorOf(thrown), { during: "onError" });
      }
  }

  #transformed(object: StoredObject<T>, transform: (object: StoredObject<T>) => ObjectOf<T>): StoredObject<T> {
    try {
      return transform(object) as StoredObject<T>;
    } catch (error) {
      this.#report(errorOf(error), { during: "transform" });
      return object;
    }
  }

  readonly #report = (error: Error, problem: InformerProblem): void => {
    this.#counters.handlerErrors += 1;
    const { onProblem } = this.#options;
    try {
      if (onProblem === undefined) warn(`informer of ${this.kind.plural}, ${problem.during}`, error);
      else onProblem(error, problem);
    } catch (thrown) {
      warn(`onProblem of the informer of ${this.kind.plural}`, errorOf(thrown));
    }
  };
}

/** Name of process warnings. */
const WARNING = "InformerWarning";

function warn(where: string, error: Error): void {
  process.emitWarning(`${where}: ${error.stack ?? error.message}`);
}

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns a promise whose rejection counts as handled. */
function unsettled(): PromiseWithResolvers<void> {
  const made = Promise.withResolvers<void>();
  made.promise.catch(() => undefined);
  return made;
}
