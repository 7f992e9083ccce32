import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../definition.ts";
import type { Scope } from "../storage.ts";
import { shareOf, widened } from "../watch/selection.ts";
import { DerivedCache, type DerivedLease } from "./derived-cache.ts";
import type { ViewOptions, ViewSource } from "./view-options.ts";

/** All computations of a view that have readers, or had some a while ago. */
export class DerivedCaches<In extends object, Out extends object, Variant, Inputs> {
  readonly resource: TypedDefinition<Out>;
  /** Annotations that views made from this view keep in its objects. */
  readonly carried: Set<string> = new Set();
  readonly #options: ViewOptions<In, Out, Variant, Inputs>;
  readonly #derived = new Map<string, DerivedCache<In, Out, Variant, Inputs>>();

  constructor(options: ViewOptions<In, Out, Variant, Inputs>) {
    this.resource = options.to ?? (options.from.resource as unknown as TypedDefinition<Out>);
    this.#options = options;
  }

  /** Callers share a stream when `varyBy` and every source allow it. */
  shareKey(scope: Scope): string {
    const { varyBy, from, inputs } = this.#options;
    const sources = [from, ...Object.values((inputs ?? {}) as Record<string, ViewSource>)];
    const wide = widened(scope);
    return JSON.stringify([varyBy?.(scope), sources.map((source) => shareOf(source, wide))]);
  }

  async lease(scope: Scope): Promise<DerivedLease<In, Out, Variant, Inputs>> {
    const variant = this.#options.varyBy?.(scope) as Variant;
    const key = JSON.stringify([scope.cluster, this.shareKey(scope)]);
    let derived = this.#derived.get(key);
    if (derived === undefined) {
      this.#makeRoom();
      const { resource, carried } = this;
      const onIdle = (): void => this.#drop(key, created);
      const created = new DerivedCache({
        view: this.#options,
        resource,
        scope: widened(scope),
        variant,
        carried,
        onIdle,
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

  /** Returns the source version of the object that any computation shows at a version, also to other callers. */
  sourceVersionAt(version: string, key: ObjectKey): string | undefined {
    for (const derived of this.#derived.values()) {
      const shown = derived.cache.get(key);
      if (shown?.resourceVersion === version) return derived.sourceVersion(shown);
    }
    return undefined;
  }

  /** @throws ApiError 429 when all computations have readers and no more are allowed */
  #makeRoom(): void {
    if (this.#derived.size < (this.#options.computations ?? Number.POSITIVE_INFINITY)) return;
    let oldest: { readonly key: string; readonly since: number } | undefined;
    for (const [key, { idleSince: since }] of this.#derived)
      if (since !== undefined && (oldest === undefined || since < oldest.since)) oldest = { key, since };
    if (oldest === undefined)
      throw ApiError.tooManyRequests(`too many different users read ${this.resource.plural} here at once`, 10);
    this.#derived.get(oldest.key)?.close();
    this.#derived.delete(oldest.key);
  }

  #drop(key: string, derived: DerivedCache<In, Out, Variant, Inputs>): void {
    if (this.#derived.get(key) === derived) this.#derived.delete(key);
  }
}
