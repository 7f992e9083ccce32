import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../definition.ts";
import type { CacheLease, Scope, Storage, WriteOptions } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { ReadableCache } from "../watch/cache/cache-event.ts";
import { decodeObject, type Encoded } from "../watch/cache/encoded.ts";
import { type HistoryOptions, objectsIn } from "../watch/cache/watch-cache.ts";

/** Source of a view: a collection, another view, or a storage with a kind that keeps its own history. */
export interface ViewSource<T extends object = object> {
  readonly resource: TypedDefinition<T>;
  /** As {@link Storage.cache}. */
  cache(scope: Scope): Awaitable<CacheLease>;
  /** As {@link Storage.shareKey}: callers share a view only if they share each of its sources. */
  shareKey?(scope: Scope): string | undefined;
}

/**
 * Source of a writable view: a collection, another writable view, or a storage that keeps its own history. With a `lifecycle`
 * of its own, it must call {@link WriteOptions.accept} before it stores an object; otherwise the view cannot reject objects
 * that it would not show.
 */
export interface WritableSource<T extends object = object>
  extends ViewSource<T>,
    Required<Pick<Storage<ObjectOf<T>>, "create" | "update" | "delete">>,
    Pick<Storage<ObjectOf<T>>, "lifecycle" | "local" | "garbageCollected" | "versions" | "storedAs"> {
  /** As {@link Storage.get}. */
  readonly get?: Storage<ObjectOf<T>>["get"];
  /** As {@link Storage.ownAnnotations}. */
  readonly ownAnnotations?: Storage["ownAnnotations"];
  /**
   * Registers an annotation in which a view of these objects keeps its data, so that they show it. A view hides the
   * annotations that other views keep at its source.
   */
  carry?(annotation: string): void;
  /** As {@link Storage.isCurrent}. */
  readonly isCurrent?: Storage["isCurrent"];
}

/** Readers of the inputs, by their names in {@link ViewOptions.inputs}. */
export type InputReaders<Inputs> = {
  readonly [Name in keyof Inputs]: Inputs[Name] extends ViewSource<infer T> ? Reader<T> : never;
};

/** Dependency of a view that is no collection: permissions, or state of another process. `select` and `map` read it themselves. */
export interface ViewDependency<Variant = undefined> {
  /**
   * Follows the dependency for one variant, from before the first object is computed until the result is disposed. Calling
   * `again` recomputes the object of a key, or all, at the end of the turn or before the next read. Open watches get the
   * changes. Call it only for objects that may differ. Must not throw.
   */
  follow(variant: Variant, again: (key?: ObjectKey) => void): FollowedDependency;
}

/** Result of {@link ViewDependency.follow}. Disposed when there are no more readers. */
export interface FollowedDependency extends Disposable {
  /** As {@link CacheLease.confirm}: resolves when `again` was called for all earlier changes. @default nothing is pending */
  confirm?(request: Parameters<CacheLease["confirm"]>[0]): Awaitable<void>;
}

/** Everything that `select` and `map` may depend on besides the object. */
export interface ViewContext<Variant, Inputs> {
  /** Result of {@link ViewOptions.varyBy} for the request's scope. */
  readonly variant: Variant;
  /** The other sources, in their current state. */
  readonly inputs: InputReaders<Inputs>;
}

/** Everything that `mapToSource` may depend on besides. */
export interface MapToSourceContext<In extends object, Variant, Inputs> extends ViewContext<Variant, Inputs> {
  /** Copy of the source's current object; `undefined` on create. */
  readonly source: ObjectOf<In> | undefined;
}

/** Content of an object, without what the framework sets. Labels and annotations, if given, replace all that the object has. */
export type Mapped<T> = T & {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

/** Options of a view: its source, and which objects it shows in which form. */
export interface ViewOptions<In extends object, Out extends object, Variant, Inputs> {
  readonly from: ViewSource<In>;
  /** Kind to serve. @default the kind of `from`, which then needs no `map` */
  readonly to?: TypedDefinition<Out>;
  /**
   * Returns what the view depends on besides its objects, as JSON: the caller's team, a path parameter. Callers with equal
   * values share one computation and one stream. Security: `select` and `map` see nothing else of a caller, so nothing else
   * can leak to another caller.
   * @default nothing, all callers share
   */
  readonly varyBy?: (scope: Scope) => Variant;
  /** Further sources. When one changes, the view recomputes its objects, and open watches get the changes. */
  readonly inputs?: Inputs;
  /** Further dependency of `select` and `map`. Open watches get the changes that it causes. @default none */
  readonly depends?: ViewDependency<Variant>;
  /**
   * Whether an object is in the view. Must depend only on its arguments and on `depends`. Security: an exception hides the
   * object (fail closed) and goes to `onError`.
   * @default every object
   */
  readonly select?: (object: ObjectOf<In>, context: ViewContext<Variant, Inputs>) => boolean;
  /** Returns the object as the view shows it. Name, namespace, uid and timestamps stay. The rules of `select` apply. */
  readonly map?: (object: ObjectOf<In>, context: ViewContext<Variant, Inputs>) => Mapped<Out>;
  readonly history?: HistoryOptions;
  /** How long a computation stays after its last reader, so that clients can resume, in ms. @default 60000 */
  readonly linger?: number;
  /**
   * Maximum number of computations, where there may be many variants. The one that has been idle longest makes room. When all
   * have readers, further callers get 429.
   * @default no limit
   */
  readonly computations?: number;
  /** Called on exceptions in `select` and `map`, and on results that cannot be sent. @default a process warning */
  readonly onError?: (error: unknown, object: string) => void;
}

/** Options of a writable view: {@link ViewOptions}, and the mapping to the source. */
export interface WritableViewOptions<In extends object, Out extends object, Variant, Inputs>
  extends ViewOptions<In, Out, Variant, Inputs> {
  readonly from: WritableSource<In>;
  /**
   * Returns the content of the source's object for which the view shows `object`. Fields that the view hides are in `source`,
   * and lost if the result lacks them. Only a `status` stays when it is left out, unless the client removed the one that the
   * view showed. Changes of labels and annotations are carried over, unless the result sets `metadata.labels` or
   * `metadata.annotations`. Called again when another write comes first. An `ApiError` that it throws is answered unchanged.
   *
   * The rules of the source's kind check the result. Security: whoever may write the view can give the source's objects any
   * content that this function returns, within what `select` shows.
   */
  readonly mapToSource: (object: ObjectOf<Out>, context: MapToSourceContext<In, Variant, Inputs>) => Mapped<In>;
  /** Whether a write may leave an object that the view does not show. @default false, such a write gets 403 */
  readonly allowLeavingView?: boolean;
}

/** A source as `select` and `map` read it: parsed once per version, never to be changed. */
export interface Reader<T extends object> {
  /** Returns the object of that name, or `undefined`; finds a cluster-scoped one from any namespace. */
  get(name: string, at?: ReaderPlace): Readonly<ObjectOf<T>> | undefined;
  /** Returns all objects of a place, by namespace and name. */
  list(at?: ReaderPlace): readonly Readonly<ObjectOf<T>>[];
}

/** Place where a reader looks. */
export interface ReaderPlace {
  /** @default the logical cluster of the current object */
  readonly cluster?: string;
  /** @default for `get` the namespace of the current object, for `list` all */
  readonly namespace?: string;
}

/** Reads a cache on behalf of one object at a time. */
export class CacheReader<T extends object> implements Reader<T> {
  readonly #cache: ReadableCache;
  readonly #here: () => Required<ReaderPlace>;
  readonly #parsed = new WeakMap<Encoded, ObjectOf<T>>();

  constructor(cache: ReadableCache, here: () => Required<ReaderPlace>) {
    this.#cache = cache;
    this.#here = here;
  }

  get(name: string, at: ReaderPlace = {}): ObjectOf<T> | undefined {
    const found =
      this.#cache.get({ ...this.#here(), ...at, name }) ??
      this.#cache.get({ ...this.#here(), namespace: "", ...at, name });
    return found === undefined ? undefined : this.#parse(found);
  }

  list(at: ReaderPlace = {}): ObjectOf<T>[] {
    const place = { cluster: at.cluster ?? this.#here().cluster, namespace: at.namespace ?? "" };
    return Array.from(objectsIn(this.#cache.snapshot().objects, place), (encoded) => this.#parse(encoded));
  }

  #parse(encoded: Encoded): ObjectOf<T> {
    let object = this.#parsed.get(encoded);
    if (object === undefined) {
      object = decodeObject<ObjectOf<T>>(encoded);
      this.#parsed.set(encoded, object);
    }
    return object;
  }
}
