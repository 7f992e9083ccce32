import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { KeyLike } from "@virtual-workspaces/client";
import type { Keyed, Source, SourceHandlers, SourceStore } from "@virtual-workspaces/client/queue";
import type { SpaceName } from "./space-name.ts";

/** What shows the objects of one Space: an `Informer`. */
export interface SpaceInformer<T extends KubeObject>
  extends Pick<Source<T>, "on" | "synced">,
    Partial<AsyncDisposable> {
  readonly store: {
    /** An object, `undefined` if it is not there. */
    get(key: KeyLike): T | undefined;
    /** All. */
    list(): Iterable<T>;
  };
}

interface ShownInformer<T extends KubeObject> {
  readonly informer: SpaceInformer<T>;
  readonly subscription: Disposable;
}

/** The objects of one kind in all Spaces. Names that are the same in two of them are two objects: the cluster of a key is the Space's name. */
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

  /** Tells what a synced informer has, from now on. Of one that takes the place of another of the same Space, the differences are told. */
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
    // Before anything is told: who hears of an object finds it in the store.
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

  /** Tells that what a Space has shown was deleted with it, or is not to be seen any more. */
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
