import type { TypedDefinition } from "../definition.ts";
import type { ObjectOf } from "../resource-schema.ts";
import type { CacheLease, Scope, Storage } from "../storage.ts";
import { shareOf } from "../watch/share.ts";
import { Derived } from "./derived.ts";
import type { ViewOptions, ViewSource } from "./options.ts";

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
  readonly resource: TypedDefinition<Out>;
  readonly #options: ViewOptions<In, Out, By, Inputs>;
  readonly #derived = new Map<string, Derived<In, Out, By, Inputs>>();

  constructor(options: ViewOptions<In, Out, By, Inputs>) {
    this.resource = options.to ?? (options.from.resource as unknown as TypedDefinition<Out>);
    this.#options = options;
  }

  /** Callers share when `by` and every source say so. */
  shareKey(scope: Scope): string {
    const { by, from, inputs } = this.#options;
    const sources = [from, ...Object.values((inputs ?? {}) as Record<string, ViewSource>)];
    return JSON.stringify([by?.(scope), sources.map((source) => shareOf(source, scope))]);
  }

  async cache(scope: Scope): Promise<CacheLease> {
    const by = this.#options.by?.(scope) as By;
    const key = JSON.stringify([scope.cluster, this.shareKey(scope)]);
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
