import type { KindReference, ObjectOf } from "@virtual-workspaces/apimachinery";
import { onAbort } from "@virtual-workspaces/transport";
import type { InformerEvent, InformerHandlers, LifecycleEvent } from "./events.ts";
import { type Counters, counters, type InformerMetrics } from "./events.ts";
import { checkOptions, type InformerOptions, type InformerProblem } from "./informer-options.ts";
import { Reflector } from "./reflector.ts";
import type { Indexer } from "./store.ts";
import { ObjectStore, type Store } from "./store.ts";
import { EventQueue, HandlerSubscriber, QueueSubscriber, type Subscriber } from "./subscribers.ts";

/** How events are read by iteration: {@link Informer.events}. */
export interface EventsOptions {
  /** How many events wait for a slow reader before those of one object become one. @default 1000 */
  readonly limit?: number;
}

/**
 * A copy of a server's objects that is kept in step with it, and tells what changes (cache.SharedIndexInformer). It goes on
 * for as long as it is not stopped, whatever the server and the network do: what goes wrong is told as a lifecycle event.
 * Whoever has it sees what its client may read. Any number of handlers and iterators share one copy and one connection.
 *
 * Memory: the objects, once, after `transform`, and what waits in iterators; 50 to 60 KiB for an informer without
 * objects, most of it its connection.
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
  readonly #subscribers = new Set<Subscriber<ObjectOf<T>>>();
  readonly #queues = new Set<EventQueue<ObjectOf<T>>>();
  #running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  #synced = unsettled();

  /** @throws Error on an option that is out of its bounds */
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
    this.#reflector = new Reflector<T>({
      ...options,
      store: this.#store,
      counters: this.#counters,
      sink: { changes: (events) => this.#changes(events), lifecycle: (event) => this.#lifecycle(event) },
    });
  }

  /** What is known: empty until it is synced, and as it was last when the server cannot be reached. */
  get store(): Store<ObjectOf<T>> {
    return this.#store;
  }

  /**
   * Resolves when the store holds what the server has, for the first time since the start, or since the next if it is not
   * running: everything was read, or, where the informer was stopped before, is followed again from where it was. Rejects
   * when it is stopped before that.
   */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Whether the server is being followed. */
  get connected(): boolean {
    return this.#reflector.connection.connected;
  }

  /** When the server last gave a sign of life: an answer, an event, a bookmark. Watches are renewed, so that it never is older than a few seconds while all is well. */
  get lastEventAt(): Date | undefined {
    return this.#reflector.connection.lastEventAt;
  }

  /** As they are now. */
  get metrics(): InformerMetrics {
    return { ...this.#counters, objects: this.#store.size, connected: this.connected ? 1 : 0 };
  }

  /**
   * Begins to read and to follow. One that was stopped goes on from where it was: handlers hear of the differences only,
   * which are a few events, or, if the server has forgotten where that was, those that a new list shows. Does nothing while
   * it is running; while it stops, it begins again after that.
   *
   * @param signal stops it, as {@link stop} does
   */
  start(signal?: AbortSignal): this {
    const before = this.#running;
    if (before?.stop.signal.aborted === false) return this;
    if (before !== undefined) this.#stopped();
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

  /** Ends the connection and the iterators; resolves when both are done. Handlers and store stay. */
  async stop(): Promise<void> {
    this.#running?.stop.abort();
    await this.#running?.done;
  }

  /** As {@link stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Calls handlers on what happens, one event after another. What is there already is told first, as added, before this
   * returns. Handlers run while an event is taken in: what takes long belongs into a queue, or an iterator.
   *
   * @returns what takes them off again
   */
  on(handlers: InformerHandlers<ObjectOf<T>>): Disposable {
    const subscriber = new HandlerSubscriber(handlers, this.#report);
    return this.#subscribe(subscriber);
  }

  /**
   * What happens, at the reader's pace: what is there already first, as added. Ends when the informer is stopped; leaving
   * the loop takes the reader off. A reader that lags behind gets the changes of one object as one.
   */
  events({ limit = 1000 }: EventsOptions = {}): AsyncIterableIterator<InformerEvent<ObjectOf<T>>> {
    const queue: EventQueue<ObjectOf<T>> = new EventQueue({
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

  /** Adds what objects are found by, those that are there included. @throws Error when there is one of that name */
  addIndexer(name: string, indexer: Indexer<ObjectOf<T>>): void {
    this.#store.addIndexer(name, (object) => {
      try {
        return indexer(object);
      } catch (error) {
        this.#report(errorOf(error), { during: "indexer" });
        return [];
      }
    });
  }

  /** What waits for the end of a run, or of its beginning, waits no longer. */
  #stopped(): void {
    this.#synced.reject(new Error(`the informer of ${this.kind.plural} was stopped before it was synced`));
    this.#synced = unsettled();
    for (const queue of [...this.#queues]) queue.end();
  }

  #subscribe(subscriber: Subscriber<ObjectOf<T>>): Disposable {
    for (const [key, object] of this.#store.entries()) subscriber.event({ type: "added", key, object, initial: true });
    this.#subscribers.add(subscriber);
    return { [Symbol.dispose]: () => void this.#subscribers.delete(subscriber) };
  }

  /** Who comes while events are told has them from the store, which has them all already. */
  #changes(events: readonly InformerEvent<ObjectOf<T>>[]): void {
    const subscribers = [...this.#subscribers];
    for (const event of events) {
      this.#counters[event.type] += 1;
      for (const subscriber of subscribers) if (this.#subscribers.has(subscriber)) subscriber.event(event);
    }
  }

  #lifecycle(event: LifecycleEvent): void {
    if (event.type === "synced") this.#synced.resolve();
    for (const subscriber of [...this.#subscribers]) subscriber.lifecycle(event);
  }

  #transformed(object: ObjectOf<T>, transform: (object: ObjectOf<T>) => ObjectOf<T>): ObjectOf<T> {
    try {
      return transform(object);
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

function warn(where: string, error: Error): void {
  process.emitWarning(`${where}: ${error.stack ?? error.message}`);
}

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** A promise that may be rejected without anybody looking. */
function unsettled(): PromiseWithResolvers<void> {
  const made = Promise.withResolvers<void>();
  made.promise.catch(() => undefined);
  return made;
}
