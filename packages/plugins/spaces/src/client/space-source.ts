import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { KeyLike } from "@virtual-workspaces/client";
import type { Keyed, Source, SourceHandlers, SourceStore } from "@virtual-workspaces/client/queue";
import type { SpaceName } from "./space-name.ts";

/** Informer of the objects of one Space, such as `Informer`. */
export interface SpaceInformer<T extends KubeObject>
  extends Pick<Source<T>, "on" | "synced">,
    Partial<AsyncDisposable> {
  readonly store: {
    /** Returns an object, or `undefined` if it does not exist. */
    get(key: KeyLike): T | undefined;
    /** Returns all objects. */
    list(): Iterable<T>;
  };
}

interface ShownInformer<T extends KubeObject> {
  readonly informer: SpaceInformer<T>;
  readonly subscription: Disposable;
}

/** Objects of one kind in all Spaces. The cluster of a key is the Space's name, so equal names in two Spaces are two objects. */
export class SpaceSource<T extends KubeObject> implements Source<T> {
  readonly synced: Promise<void>;
  readonly store: SourceStore<T> = {
    get: (key) => this.#shown.get(key.cluster)?.informer.store.get({ namespace: key.namespace, name: key.name }),
    list: () => this.#list(),
  };
  readonly #shown = new Map<SpaceName, ShownInformer<T>>();
  readonly #handlers = new Set<SourceHandlers<T>>();

  constructor(synced: Promise<void>) {
    this.synced = synced;
  }

  on(handlers: SourceHandlers<T>): Disposable {
    const own = { ...handlers };
    for (const [space, { informer }] of this.#shown)
      for (const object of informer.store.list()) own.added?.(object, { key: keyIn(space, object), initial: true });
    this.#handlers.add(own);
    return { [Symbol.dispose]: () => void this.#handlers.delete(own) };
  }

  /** Adds the objects of a synced informer. If it replaces another one of the same Space, only the differences become events. */
  show(space: SpaceName, informer: SpaceInformer<T>): void {
    const before = this.#shown.get(space);
    before?.subscription[Symbol.dispose]();
    const old = new Map<string, T>();
    for (const object of before?.informer.store.list() ?? []) old.set(namespacedName(object), object);
    const added = (object: T, event: Keyed): void => {
      const was = old.get(namespacedName(object));
      old.delete(namespacedName(object));
      if (was === undefined) this.#tell("added", object, { ...event, key: keyIn(space, object) });
      else if (was.metadata.uid !== object.metadata.uid) {
        this.#tell("deleted", was, { key: keyIn(space, was) });
        this.#tell("added", object, { key: keyIn(space, object) });
      } else if (was.metadata.resourceVersion !== object.metadata.resourceVersion) this.#update(space, object, was);
    };
    // Listeners of the first event must find the object in the store.
    const shown = { informer, subscription: new DisposableStack() };
    this.#shown.set(space, shown);
    const subscription = informer.on({
      added,
      updated: (object, was) => this.#update(space, object, was),
      deleted: (object) => this.#tell("deleted", object, { key: keyIn(space, object) }),
    });
    shown.subscription.use(subscription);
    for (const was of old.values()) this.#tell("deleted", was, { key: keyIn(space, was) });
    old.clear();
  }

  /** Removes the objects of a Space, as deleted with it or as no longer visible. */
  drop(space: SpaceName, how: "deleted" | "gone"): void {
    const shown = this.#shown.get(space);
    if (shown === undefined) return;
    shown.subscription[Symbol.dispose]();
    this.#shown.delete(space);
    for (const object of shown.informer.store.list()) this.#tell(how, object, { key: keyIn(space, object) });
  }

  #tell(what: "added" | "deleted" | "gone", object: T, event: Keyed): void {
    for (const handlers of [...this.#handlers]) if (this.#handlers.has(handlers)) handlers[what]?.(object, event);
  }

  #update(space: SpaceName, object: T, was: T): void {
    const event = { key: keyIn(space, object) };
    for (const handlers of [...this.#handlers])
      if (this.#handlers.has(handlers)) handlers.updated?.(object, was, event);
  }

  *#list(): Generator<T> {
    for (const { informer } of this.#shown.values()) yield* informer.store.list();
  }
}

const keyIn = (space: SpaceName, { metadata: { namespace = "", name = "" } }: KubeObject): ObjectKey => ({
  cluster: space,
  namespace,
  name,
});

const namespacedName = ({ metadata: { namespace = "", name = "" } }: KubeObject): string => `${namespace}/${name}`;
