import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../definition.ts";
import type { CacheLease, Scope, Storage, WriteOptions } from "../storage.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { ReadableCache } from "../watch/cache/cache-event.ts";
import { decodeObject, type Encoded } from "../watch/cache/encoded.ts";
import { type HistoryOptions, objectsIn } from "../watch/cache/watch-cache.ts";

/** What a view can be made from: a collection, another view, any storage with a kind that keeps its own history. */
export interface ViewSource<T extends object = object> {
  readonly resource: TypedDefinition<T>;
  /** As {@link Storage.cache}. */
  cache(scope: Scope): Awaitable<CacheLease>;
  /** As {@link Storage.shareKey}: a view is shared by no more callers than each of its sources is. */
  shareKey?(scope: Scope): string | undefined;
}

/**
 * What a writable view can be made from: a collection, another writable view, a storage that keeps its own history. One
 * with a {@link Storage.lifecycle} of its own must call {@link WriteOptions.accept} before it keeps an object: a view that
 * is not asked cannot refuse what it would not show.
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
   * Told of an annotation in which a view of these objects keeps what is its own: it is handed on. A view hides those that
   * views beside it have left at its source.
   */
  carry?(annotation: string): void;
  /** As {@link Storage.isCurrent}. */
  readonly isCurrent?: Storage["isCurrent"];
}

/** What a source's objects are, by the name they were given under {@link ViewOptions.inputs}. */
export type InputReaders<Inputs> = {
  readonly [Name in keyof Inputs]: Inputs[Name] extends ViewSource<infer T> ? Reader<T> : never;
};

/**
 * What a view depends on that is no collection: permissions, what another process says. `select` and `map` read it by
 * themselves, wherever it is.
 */
export interface ViewDependency<Variant = undefined> {
  /**
   * Follows it for one variant, before the first object is looked at, until the result is disposed. `again` has
   * objects looked at anew, the one of a key or all; what that means is told in open watches, at the end of the turn or
   * before the next read if that is sooner. Only those need be named that may come out otherwise. Must not throw.
   */
  follow(variant: Variant, again: (key?: ObjectKey) => void): FollowedDependency;
}

/** What {@link ViewDependency.follow} gives. Disposed when nobody reads any more. */
export interface FollowedDependency extends Disposable {
  /** As {@link CacheLease.confirm}: resolves when all has been said that was so when this was called. @default it has */
  confirm?(request: Parameters<CacheLease["confirm"]>[0]): Awaitable<void>;
}

/** All that `select` and `map` may depend on besides the object. */
export interface ViewContext<Variant, Inputs> {
  /** What {@link ViewOptions.varyBy} made of the request's scope. */
  readonly variant: Variant;
  /** The other sources, as they are now. */
  readonly inputs: InputReaders<Inputs>;
}

/** What `mapToSource` may depend on besides. */
export interface MapToSourceContext<In extends object, Variant, Inputs> extends ViewContext<Variant, Inputs> {
  /** The object of the source as it is now, a copy; `undefined` for one that is to be created. */
  readonly source: ObjectOf<In> | undefined;
}

/**
 * An object's content without what the framework sets, and labels and annotations if they are to be others than before:
 * then all of them.
 */
export type Mapped<T> = T & {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

/** What a view is: where its objects come from, which of them it shows, and how. */
export interface ViewOptions<In extends object, Out extends object, Variant, Inputs> {
  readonly from: ViewSource<In>;
  /** The kind that is served. @default the kind of `from`, which then needs no `map` */
  readonly to?: TypedDefinition<Out>;
  /**
   * What the view depends on besides its objects: the caller's team, a path parameter. Must be JSON. Callers with equal
   * values share one computation and one stream, so `select` and `map` see nothing else of a caller: what is not in
   * here cannot leak from one to another. @default nothing, all callers share
   */
  readonly varyBy?: (scope: Scope) => Variant;
  /** Further sources. When one changes, membership is worked out anew, and what that means is told in open watches. */
  readonly inputs?: Inputs;
  /** What else `select` and `map` depend on, so that what changes there is told in open watches. @default nothing */
  readonly depends?: ViewDependency<Variant>;
  /**
   * Whether an object is in the view. Must depend only on its arguments and what `depends` follows. One that throws hides the object (fail
   * closed) and is reported to `onError`. @default every object
   */
  readonly select?: (object: ObjectOf<In>, context: ViewContext<Variant, Inputs>) => boolean;
  /** The object as the view shows it. Name, namespace, uid and timestamps stay. The same rules as for `select`. */
  readonly map?: (object: ObjectOf<In>, context: ViewContext<Variant, Inputs>) => Mapped<Out>;
  readonly history?: HistoryOptions;
  /** How long a computation outlives its last reader, so that clients resume, ms. @default 60000 */
  readonly linger?: number;
  /**
   * The most computations at once, where there may be many variants. The one whose last reader left first makes room;
   * where all have readers, whoever would need one more is told 429. @default no limit
   */
  readonly computations?: number;
  /** Told of throws in `select` and `map`, and of results that cannot be sent. @default a process warning */
  readonly onError?: (error: unknown, object: string) => void;
}

/** What a writable view is: {@link ViewOptions}, and the way back. */
export interface WritableViewOptions<In extends object, Out extends object, Variant, Inputs>
  extends ViewOptions<In, Out, Variant, Inputs> {
  readonly from: WritableSource<In>;
  /**
   * The way back: the content that the source's object is to have so that the view shows `object`. What the view hides is
   * in `source`, and lost if it is not taken over from there; a `status` alone stays when it is left out, unless the client
   * took away the one that the view showed. Changes of
   * labels and annotations are carried over, unless `metadata.labels` or `metadata.annotations` say what they are to be.
   * Asked anew when somebody else's write comes first. An `ApiError` that it throws is answered as it stands.
   *
   * The result is checked by the rules of the source's kind. Whoever may write the view can make the source's objects
   * whatever this function returns, within what `select` shows.
   */
  readonly mapToSource: (object: ObjectOf<Out>, context: MapToSourceContext<In, Variant, Inputs>) => Mapped<In>;
  /** Whether a write may leave an object that the view does not show. @default false, it is refused with 403 */
  readonly allowLeavingView?: boolean;
}

/** A source as `select` and `map` read it: parsed once per version, never to be changed. */
export interface Reader<T extends object> {
  /** The object of that name, `undefined` when there is none; a cluster-scoped one is found from any namespace. */
  get(name: string, at?: ReaderPlace): Readonly<ObjectOf<T>> | undefined;
  /** All objects of a place, by namespace and name. */
  list(at?: ReaderPlace): readonly Readonly<ObjectOf<T>>[];
}

/** Where a reader looks. */
export interface ReaderPlace {
  /** @default the logical cluster of the object being looked at */
  readonly cluster?: string;
  /** @default for `get` the namespace of the object being looked at, for `list` all */
  readonly namespace?: string;
}

/** Reads a cache on behalf of one object after another. */
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
