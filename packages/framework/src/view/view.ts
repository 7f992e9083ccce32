import type { Resource } from "../resource.ts";
import type { ObjectOf } from "../resource-schema.ts";
import type { Awaitable, CacheLease, Scope, Storage } from "../storage.ts";
import type { HistoryOptions } from "../watch/cache.ts";
import { Derived } from "./derived.ts";
import type { Reader } from "./reader.ts";

/** What a view can be made from: a collection, another view, any storage with a kind that keeps its own history. */
export interface ViewSource<T extends object = object> {
  readonly resource: Resource<T>;
  cache(scope: Scope): Awaitable<CacheLease>;
}

/** What a source's objects are, by the name they were given under {@link ViewOptions.inputs}. */
export type InputReaders<Inputs> = {
  readonly [Name in keyof Inputs]: Inputs[Name] extends ViewSource<infer T> ? Reader<T> : never;
};

/** All that `select` and `map` may depend on besides the object. */
export interface ViewContext<By, Inputs> {
  /** What {@link ViewOptions.by} made of the request's scope. */
  readonly by: By;
  /** The other sources, as they are now. */
  readonly inputs: InputReaders<Inputs>;
}

/** An object's content without what the framework sets, and labels and annotations where they change. */
export type Mapped<T> = T & {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

export interface ViewOptions<In extends object, Out extends object, By, Inputs> {
  readonly from: ViewSource<In>;
  /** The kind that is served. @default the kind of `from`, which then needs no `map` */
  readonly to?: Resource<Out>;
  /**
   * What the view depends on besides its objects: the caller's team, a path parameter. Must be JSON. Callers with equal
   * values share one computation and one stream, so `select` and `map` see nothing else of a caller: what is not in
   * here cannot leak from one to another. @default nothing, all callers share
   */
  readonly by?: (scope: Scope) => By;
  /** Further sources. When one changes, membership is worked out anew, and what that means is told in open watches. */
  readonly inputs?: Inputs;
  /**
   * Whether an object is in the view. Must depend only on its arguments. One that throws hides the object (fail
   * closed) and is reported to `onError`. @default every object
   */
  readonly select?: (object: ObjectOf<In>, context: ViewContext<By, Inputs>) => boolean;
  /** The object as the view shows it. Name, namespace, uid and timestamps stay. The same rules as for `select`. */
  readonly map?: (object: ObjectOf<In>, context: ViewContext<By, Inputs>) => Mapped<Out>;
  readonly history?: HistoryOptions;
  /** How long a computation outlives its last reader, so that clients resume, ms. @default 60000 */
  readonly linger?: number;
  /** Told of throws in `select` and `map`. @default a process warning */
  readonly onError?: (error: unknown, object: string) => void;
}

/** The annotation that tells which version of its source an object of a view was made from. */
export const SOURCE_VERSION_ANNOTATION = "virtual-workspaces.dev/source-version";

/**
 * A computed, live collection: the objects of `from` that `select` lets in, as `map` shows them.
 *
 * An object that enters, for whatever reason, is ADDED in open watches and one that leaves is DELETED with its last
 * seen state; list and watch always agree and watches resume. Membership is decided by code, so the view has its own
 * line of versions; the source's travels in {@link SOURCE_VERSION_ANNOTATION}.
 */
export class View<In extends object, Out extends object, By, Inputs>
  implements Storage<ObjectOf<Out>>, ViewSource<Out>
{
  readonly resource: Resource<Out>;
  readonly #options: ViewOptions<In, Out, By, Inputs>;
  readonly #derived = new Map<string, Derived<In, Out, By, Inputs>>();

  constructor(options: ViewOptions<In, Out, By, Inputs>) {
    this.resource = options.to ?? (options.from.resource as Resource<object> as Resource<Out>);
    this.#options = options;
  }

  async cache(scope: Scope): Promise<CacheLease> {
    const by = this.#options.by?.(scope) as By;
    const key = JSON.stringify([scope.cluster, by]);
    let derived = this.#derived.get(key);
    if (derived === undefined) {
      const created = new Derived({
        view: this.#options,
        resource: this.resource,
        scope,
        by,
        onIdle: () => this.#drop(key, created),
      });
      derived = created;
      this.#derived.set(key, derived);
    }
    try {
      return await derived.lease();
    } catch (error) {
      this.#drop(key, derived);
      throw error;
    }
  }

  #drop(key: string, derived: Derived<In, Out, By, Inputs>): void {
    if (this.#derived.get(key) === derived) this.#derived.delete(key);
  }
}

/** Makes a {@link View}. `map` is required when the view shows another kind than its source. */
export function view<In extends object, Out extends object = In, By = undefined, Inputs = Record<never, never>>(
  options: ViewOptions<In, Out, By, Inputs> & NeedsMap<In, Out, By, Inputs>,
): View<In, Out, By, Inputs> {
  return new View(options);
}

type NeedsMap<In extends object, Out extends object, By, Inputs> = [In] extends [Out]
  ? object
  : Required<Pick<ViewOptions<In, Out, By, Inputs>, "to" | "map">>;
