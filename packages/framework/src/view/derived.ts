import { apiVersionOf, type ObjectMeta, stringifyJson } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../definition.ts";
import { decodeObject, type Encoded, encodeObject } from "../encoded.ts";
import type { ObjectOf } from "../resource-schema.ts";
import type { CacheLease, Scope } from "../storage.ts";
import { type CacheListener, WatchCache } from "../watch/cache.ts";
import type { CacheEvent } from "../watch/event.ts";
import { processMinter } from "../watch/minter.ts";
import { cacheKey, objectsIn } from "../watch/objects.ts";
import {
  type InputReaders,
  type Mapped,
  SOURCE_VERSION_ANNOTATION,
  type ViewContext,
  type ViewOptions,
  type ViewSource,
} from "./options.ts";
import { CacheReader, type ReaderPlace } from "./reader.ts";

export interface DerivedOptions<In extends object, Out extends object, By, Inputs> {
  readonly view: ViewOptions<In, Out, By, Inputs>;
  readonly resource: TypedDefinition<Out>;
  readonly scope: Scope;
  readonly by: By;
  /** Called once, when nobody has read for a while. */
  readonly onIdle: () => void;
}

/** What a derived cache follows. */
interface Sources {
  readonly from: CacheLease;
  readonly inputs: readonly CacheLease[];
}

/** One computation of a view: for one logical cluster (or all) and one value of `by`. Follows its sources at once. */
export class Derived<In extends object, Out extends object, By, Inputs> {
  readonly #options: DerivedOptions<In, Out, By, Inputs>;
  readonly #cache: WatchCache;
  readonly #sources: Promise<Sources>;
  readonly #closing: Disposable[] = [];
  #context: ViewContext<By, Inputs> | undefined;
  #here: Required<ReaderPlace>;
  #stale = false;
  #holders = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: DerivedOptions<In, Out, By, Inputs>) {
    const { history } = options.view;
    this.#options = options;
    this.#here = { cluster: options.scope.cluster, namespace: "" };
    this.#cache = new WatchCache({ version: processMinter.next(), minter: processMinter, ...(history && { history }) });
    this.#sources = this.#open();
  }

  async lease(): Promise<CacheLease> {
    this.#holders += 1;
    clearTimeout(this.#idle);
    let held = true;
    const release = (): void => {
      if (held) this.#release();
      held = false;
    };
    try {
      const sources = await this.#sources;
      this.#recompute(sources.from.cache);
      return { cache: this.#cache, confirm: (request) => this.#confirm(sources, request), [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #confirm(sources: Sources, request: { readonly signal: AbortSignal }): Promise<void> {
    await Promise.all([sources.from, ...sources.inputs].map((lease) => lease.confirm(request)));
    this.#recompute(sources.from.cache);
  }

  async #open(): Promise<Sources> {
    const { view, scope } = this.#options;
    const named = Object.entries((view.inputs ?? {}) as Record<string, ViewSource>);
    const from = this.#keep(await view.from.cache(scope));
    const inputs: CacheLease[] = [];
    const readers: Record<string, unknown> = {};
    for (const [name, source] of named) {
      const lease = this.#keep(await source.cache(scope));
      inputs.push(lease);
      readers[name] = new CacheReader(lease.cache, () => this.#here);
      this.#keep(lease.cache.listen(this.#inputListener(from.cache)));
    }
    this.#context = { by: this.#options.by, inputs: readers as InputReaders<Inputs> };
    this.#keep(from.cache.listen(this.#sourceListener(from.cache)));
    this.#stale = true;
    return { from, inputs };
  }

  #sourceListener(from: WatchCache): CacheListener {
    return {
      event: (event) => this.#follow(event),
      expired: () => this.#invalidate(from),
    };
  }

  #inputListener(from: WatchCache): CacheListener {
    const changed = (): void => this.#invalidate(from);
    return { event: changed, expired: changed };
  }

  /** Works everything out anew at the end of the turn, or before the next read if that is sooner. */
  #invalidate(from: WatchCache): void {
    if (this.#stale) return;
    this.#stale = true;
    queueMicrotask(() => this.#recompute(from));
  }

  #recompute(from: WatchCache): void {
    if (!this.#stale) return;
    this.#stale = false;
    const { cluster } = this.#options.scope;
    const current = from.snapshot().objects;
    for (const encoded of [...this.#cache.snapshot().objects.values()]) {
      if (current.get(cacheKey(encoded.key)) === undefined) this.#cache.delete(encoded.key, processMinter.next());
    }
    const place = { cluster: cluster === "*" ? "" : cluster, namespace: "" };
    for (const encoded of objectsIn(current, place)) this.#place(encoded);
  }

  #follow(event: CacheEvent): void {
    if (!this.#covers(event)) return;
    if (event.object !== undefined) this.#place(event.object, true);
    else if (this.#cache.get(event.key) !== undefined) this.#cache.delete(event.key, processMinter.next());
  }

  #covers({ key }: Pick<Encoded, "key">): boolean {
    const { cluster } = this.#options.scope;
    return cluster === "*" || key.cluster === cluster;
  }

  /** Puts an object where it now belongs: in the view, changed within it, or out of it. */
  #place(source: Encoded, changed = false): void {
    const before = this.#cache.get(source.key);
    const object = this.#compute(source);
    if (object === undefined) {
      if (before !== undefined) this.#cache.delete(source.key, processMinter.next());
      return;
    }
    if (!changed && before !== undefined && this.#same(before, object)) return;
    object.metadata.resourceVersion = processMinter.next();
    this.#cache.set(encodeObject(object, source.key.cluster, this.#options.resource.selectableFields));
  }

  #compute(source: Encoded): ObjectOf<Out> | undefined {
    const { view } = this.#options;
    const context = this.#context as ViewContext<By, Inputs>;
    this.#here = source.key;
    try {
      const object = decodeObject<ObjectOf<In>>(source);
      if (view.select?.(object, context) === false) return undefined;
      const mapped = view.map?.(object, context) ?? (object as ObjectOf<object> as ObjectOf<Out>);
      return this.#finish(object.metadata, mapped, source.resourceVersion);
    } catch (error) {
      this.#report(error, cacheKey(source.key));
      return undefined;
    }
  }

  #finish(metadata: ObjectMeta, mapped: Mapped<Out> | ObjectOf<Out>, sourceVersion: string): ObjectOf<Out> {
    const { apiVersion: _version, kind: _kind, metadata: changes, ...content } = mapped as ObjectOf<object>;
    const { managedFields: _fields, ...kept } = metadata;
    const labels = changes?.labels ?? metadata.labels;
    return {
      apiVersion: apiVersionOf(this.#options.resource),
      kind: this.#options.resource.kind,
      metadata: {
        ...kept,
        ...(labels === undefined ? {} : { labels }),
        annotations: { ...metadata.annotations, ...changes?.annotations, [SOURCE_VERSION_ANNOTATION]: sourceVersion },
      },
      ...content,
    } as ObjectOf<Out>;
  }

  /** Whether `object`, not yet versioned, says what the view says already. */
  #same(before: Encoded, object: ObjectOf<Out>): boolean {
    object.metadata.resourceVersion = before.resourceVersion;
    return Buffer.from(stringifyJson(object)).equals(before.bytes);
  }

  #report(error: unknown, object: string): void {
    const { onError } = this.#options.view;
    if (onError !== undefined) onError(error, object);
    else process.emitWarning(`view of ${this.#options.resource.plural} hides ${object}: ${String(error)}`);
  }

  #keep<D extends Disposable>(held: D): D {
    this.#closing.push(held);
    return held;
  }

  #release(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.#idle = setTimeout(() => {
      this.#options.onIdle();
      for (const held of this.#closing) held[Symbol.dispose]();
    }, this.#options.view.linger ?? 60_000).unref();
  }
}
