import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../definition.ts";
import type { CacheLease, Scope, Storage } from "../storage.ts";
import { DerivedCaches } from "./derived-caches.ts";
import type { ViewOptions, ViewSource, WritableViewOptions } from "./view-options.ts";
import { WritableView } from "./writable-view.ts";

/**
 * A computed, live collection: the objects of `from` that `select` accepts, as `map` shows them.
 *
 * Open watches get ADDED when an object enters, for whatever reason, and DELETED with its last seen state when it leaves.
 * When a source rejects reading (403, 404), watches end with 410: its objects may still exist.
 * Lists and watches always agree, and watches resume. Code decides membership, so the view has its own resource versions; the
 * source's are in {@link SOURCE_VERSION_ANNOTATION}.
 */
export class View<In extends object, Out extends object, Variant, Inputs>
  implements Storage<ObjectOf<Out>>, ViewSource<Out>
{
  readonly resource: TypedDefinition<Out>;
  readonly local = true;
  readonly #deriveds: DerivedCaches<In, Out, Variant, Inputs>;

  constructor(options: ViewOptions<In, Out, Variant, Inputs>) {
    this.#deriveds = new DerivedCaches(options);
    this.resource = this.#deriveds.resource;
  }

  /** Callers share a stream when `varyBy` and every source allow it. */
  shareKey(scope: Scope): string {
    return this.#deriveds.shareKey(scope);
  }

  cache(scope: Scope): Promise<CacheLease> {
    return this.#deriveds.lease(scope);
  }
}

/**
 * Returns a {@link WritableView} when `mapToSource` is given, otherwise a {@link View}. `map` is required when the view shows
 * another kind than its source.
 *
 * @throws Error when `mapToSource` is given but the source cannot be written
 *
 * @example
 * ```ts
 * import { defineResource, view } from "@virtual-workspaces/framework";
 *
 * const Book = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Book",
 *   scope: "Namespaced",
 *   spec: { type: "object", properties: { title: { type: "string" }, lent: { type: "boolean" } } },
 * });
 * const books = Book.collection();
 *
 * // A book that is lent leaves the view: watches get DELETED.
 * const available = view({ from: books, select: ({ spec }) => spec?.lent !== true });
 * const served = Book.serve(available);
 * ```
 * @see docs/how-to/writing-a-view.md
 * @see docs/how-to/writable-views.md
 */
export function view<In extends object, Out extends object = In, Variant = undefined, Inputs = Record<never, never>>(
  options: WritableViewOptions<In, Out, Variant, Inputs> & NeedsMap<In, Out, Variant, Inputs>,
): WritableView<In, Out, Variant, Inputs>;
export function view<In extends object, Out extends object = In, Variant = undefined, Inputs = Record<never, never>>(
  options: ViewOptions<In, Out, Variant, Inputs> &
    NeedsMap<In, Out, Variant, Inputs> & { readonly mapToSource?: never },
): View<In, Out, Variant, Inputs>;
export function view<In extends object, Out extends object, Variant, Inputs>(
  options: ViewOptions<In, Out, Variant, Inputs> | WritableViewOptions<In, Out, Variant, Inputs>,
): View<In, Out, Variant, Inputs> | WritableView<In, Out, Variant, Inputs> {
  return "mapToSource" in options && options.mapToSource !== undefined ? new WritableView(options) : new View(options);
}

type NeedsMap<In extends object, Out extends object, Variant, Inputs> = [In] extends [Out]
  ? object
  : Required<Pick<ViewOptions<In, Out, Variant, Inputs>, "to" | "map">>;
