import type { ObjectMeta, ObjectOf } from "@virtual-workspaces/apimachinery";
import { KindVersions, type TypedDefinition } from "../definition.ts";
import type { CacheLease, DeleteOptions, RequestOptions, Scope, Storage, WriteOptions } from "../storage.ts";
import { type Encoded, keyIn } from "../watch/cache/encoded.ts";
import { processMinter } from "../watch/cache/minter.ts";
import { SourceWrites } from "../write/source-writes.ts";
import {
  isKeptAnnotation,
  type KeptAnnotations,
  keptAnnotations,
  SOURCE_VERSION_ANNOTATION,
  sourceVersionOf,
} from "./annotations.ts";
import { isPlain } from "./computation.ts";
import { DerivedCaches } from "./derived-caches.ts";
import { LensWrite } from "./lens-write.ts";
import type { WritableSource, WritableViewOptions } from "./view-options.ts";

/**
 * A view whose objects can be written: a lens. `mapToSource` translates a change of the view into one of the source. There
 * the rules of the source's kind check it. uid, generation, finalizers and deletion are the source's.
 *
 * A write succeeds only if the client has seen the current object of this view, and if the view shows the result.
 */
export class WritableView<In extends object, Out extends object, Variant, Inputs>
  implements Storage<ObjectOf<Out>>, WritableSource<Out>
{
  readonly resource: TypedDefinition<Out>;
  readonly lifecycle = "storage";
  readonly local = true;
  readonly versions: KindVersions;
  readonly #options: WritableViewOptions<In, Out, Variant, Inputs>;
  readonly #deriveds: DerivedCaches<In, Out, Variant, Inputs>;
  readonly #below: SourceWrites;
  readonly #kept: KeptAnnotations;

  /** @throws Error when the source cannot be written */
  constructor(options: WritableViewOptions<In, Out, Variant, Inputs>) {
    this.#options = options;
    this.#deriveds = new DerivedCaches(options);
    this.resource = this.#deriveds.resource;
    const { from } = options;
    const missing = (["create", "update", "delete"] as const).filter((method) => typeof from[method] !== "function");
    if (missing.length > 0) {
      throw new Error(
        `view of ${this.resource.plural}: mapToSource needs a source that can be written: it has no ${missing.join(", ")}`,
      );
    }
    this.#kept = keptAnnotations(this.resource);
    for (const annotation of Object.values(this.#kept)) from.carry?.(annotation);
    this.#below = new SourceWrites({
      above: this.resource,
      kept: from.resource,
      storage: from as unknown as Storage,
      isOwnAnnotation: isKeptAnnotation,
    });
    // The versions of another kind do not apply to this one.
    const same = isPlain(options, this.resource) ? from.versions : undefined;
    this.versions = same ?? new KindVersions(this.resource);
  }

  /** Callers share a stream when `varyBy` and every source allow it. */
  shareKey(scope: Scope): string {
    return this.#deriveds.shareKey(scope);
  }

  cache(scope: Scope): Promise<CacheLease> {
    return this.#deriveds.lease(scope);
  }

  /** Protects the annotations with the source's version and the owners of fields, and those that the source sets itself. */
  ownAnnotations(key: string): boolean {
    return (
      this.#isHidden(key) || key === SOURCE_VERSION_ANNOTATION || this.#options.from.ownAnnotations?.(key) === true
    );
  }

  carry(annotation: string): void {
    this.#deriveds.carried.add(annotation);
    this.#options.from.carry?.(annotation);
  }

  readonly #isHidden = (key: string): boolean =>
    Object.values(this.#kept).includes(key) || (isKeptAnnotation(key) && !this.#deriveds.carried.has(key));

  /**
   * Each computation has its own versions: one for all logical clusters, and those of each replica. Finds the source's
   * version of one from this process; for one from another process the annotation has it.
   */
  isCurrent(scope: Scope, sent: ObjectMeta, now: ObjectMeta): boolean {
    const { resourceVersion = "" } = sent;
    if (!/^[1-9]\d{0,18}$/.test(resourceVersion)) return false;
    const current = sourceVersionOf(now);
    if (!processMinter.issued(resourceVersion)) return sourceVersionOf(sent) === current;
    const elsewhere = this.#deriveds.sourceVersionAt(resourceVersion, keyIn(scope, now));
    return elsewhere !== undefined && elsewhere === current;
  }

  /** @throws ApiError 409 when the source has an object of that name, whether the view shows it or not */
  create(scope: Scope, object: ObjectOf<Out>, options: WriteOptions): Promise<ObjectOf<Out> | Encoded> {
    return this.#write(scope, options, (lens) => lens.create(object, options));
  }

  /** @throws ApiError 404 when the view does not show it, 409 when it has changed, 403 when it would leave the view */
  update(scope: Scope, object: ObjectOf<Out>, options: WriteOptions): Promise<ObjectOf<Out> | Encoded> {
    return this.#write(scope, options, (lens) => lens.update(object, options));
  }

  /** @throws ApiError 404 when the view does not show it, 409 when it has changed */
  delete(
    scope: Scope,
    key: Parameters<NonNullable<Storage["delete"]>>[1],
    options: DeleteOptions,
  ): Promise<ObjectOf<Out> | Encoded | undefined> {
    return this.#write(scope, options, (lens) => lens.delete(key, options));
  }

  async #write<R>(
    scope: Scope,
    request: RequestOptions,
    run: (lens: LensWrite<In, Out, Variant, Inputs>) => Promise<R>,
  ): Promise<R> {
    const lease = await this.#deriveds.lease(scope);
    try {
      request.signal.throwIfAborted();
      const { resource } = this;
      const below = this.#below;
      return await run(
        new LensWrite({
          view: this.#options,
          resource,
          lease,
          below,
          scope,
          kept: this.#kept,
          isHidden: this.#isHidden,
        }),
      );
    } finally {
      lease[Symbol.dispose]();
    }
  }
}
