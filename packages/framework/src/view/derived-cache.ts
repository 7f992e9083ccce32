import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import { timerDelay } from "@virtual-workspaces/transport";
import type { TypedDefinition } from "../definition.ts";
import type { CacheLease, Scope } from "../storage.ts";
import type { CacheEvent, CacheListener } from "../watch/cache/cache-event.ts";
import { decodeObject, type Encoded, encodeObject } from "../watch/cache/encoded.ts";
import { processMinter } from "../watch/cache/minter.ts";
import { cacheKey, objectsIn, WatchCache } from "../watch/cache/watch-cache.ts";
import { Computation } from "./computation.ts";
import {
  CacheReader,
  type FollowedDependency,
  type InputReaders,
  type ViewOptions,
  type ViewSource,
} from "./view-options.ts";

export interface DerivedCacheOptions<In extends object, Out extends object, Variant, Inputs> {
  readonly view: ViewOptions<In, Out, Variant, Inputs>;
  readonly resource: TypedDefinition<Out>;
  readonly scope: Scope;
  readonly variant: Variant;
  /** As {@link ComputationOptions.carried}. */
  readonly carried: ReadonlySet<string>;
  /** Called once, after a while without readers. */
  readonly onIdle: () => void;
}

/** Sources of a derived cache. */
interface Sources<In extends object, Out extends object, Variant, Inputs> {
  readonly from: CacheLease;
  readonly inputs: readonly CacheLease[];
  readonly computation: Computation<In, Out, Variant, Inputs>;
  readonly followed?: FollowedDependency;
}

/** A share in a derived cache, with its computation. */
export interface DerivedLease<In extends object, Out extends object, Variant, Inputs> extends CacheLease {
  readonly computation: Computation<In, Out, Variant, Inputs>;
  /** As {@link DerivedCache.sourceVersion}. */
  readonly sourceVersion: (shown: Encoded) => string | undefined;
}

const READABLE = "too old resource version: the source of this view can be read again";

/** One computation of a view, for one logical cluster (or all) and one variant. It follows its sources synchronously. */
export class DerivedCache<In extends object, Out extends object, Variant, Inputs> {
  readonly cache: WatchCache;
  readonly #options: DerivedCacheOptions<In, Out, Variant, Inputs>;
  readonly #sources: Promise<Sources<In, Out, Variant, Inputs>>;
  readonly #closing: Disposable[] = [];
  readonly #madeFrom = new WeakMap<Encoded, string>();
  readonly #again = new Map<string, ObjectKey>();
  /** Sources that reject reading. */
  readonly #rejecting = new Set<CacheLease>();
  /** Whether the cache was emptied because of them, and not filled since. */
  #isRejected = false;
  #stale = false;
  #planned = false;
  #holders = 0;
  #idle: NodeJS.Timeout | undefined;
  #idleSince = Number.NaN;

  constructor(options: DerivedCacheOptions<In, Out, Variant, Inputs>) {
    const { history } = options.view;
    this.#options = options;
    this.cache = new WatchCache({ version: processMinter.next(), minter: processMinter, ...(history && { history }) });
    this.#sources = this.#open();
  }

  /** Time when its last reader left, in ms since the process began; `undefined` while it has one. */
  get idleSince(): number | undefined {
    return this.#holders > 0 ? undefined : this.#idleSince;
  }

  /** Releases the sources at once; there must be no readers. */
  close(): void {
    clearTimeout(this.#idle);
    for (const held of this.#closing.splice(0)) held[Symbol.dispose]();
  }

  async lease(): Promise<DerivedLease<In, Out, Variant, Inputs>> {
    this.#holders += 1;
    clearTimeout(this.#idle);
    let held = true;
    const release = (): void => {
      if (held) this.#release();
      held = false;
    };
    try {
      const sources = await this.#sources;
      this.#recompute(sources);
      const confirm: CacheLease["confirm"] = (request) => this.#confirm(sources, request);
      const checkAbsent = (): void => {
        for (const lease of [sources.from, ...sources.inputs]) lease.checkAbsent?.();
      };
      const sourceVersion = (shown: Encoded): string | undefined => this.sourceVersion(shown);
      const { computation } = sources;
      return { cache: this.cache, computation, sourceVersion, confirm, checkAbsent, [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Returns the source version from which an object of the cache or its history was made. */
  sourceVersion(shown: Encoded): string | undefined {
    return this.#madeFrom.get(shown);
  }

  async #confirm(
    sources: Sources<In, Out, Variant, Inputs>,
    request: Parameters<CacheLease["confirm"]>[0],
  ): Promise<void> {
    const asked = [sources.from, ...sources.inputs].map((lease) => lease.confirm(request));
    await Promise.all([...asked, sources.followed?.confirm?.(request)]);
    this.#recompute(sources);
  }

  /** Opens all sources, or releases those already open when one fails. */
  async #open(): Promise<Sources<In, Out, Variant, Inputs>> {
    try {
      return await this.#hold();
    } catch (error) {
      for (const held of this.#closing.splice(0)) held[Symbol.dispose]();
      throw error;
    }
  }

  async #hold(): Promise<Sources<In, Out, Variant, Inputs>> {
    const { view, resource, scope, variant, carried } = this.#options;
    const from = this.#keep(await view.from.cache(scope));
    const inputs = new Map<string, CacheLease>();
    for (const [name, source] of Object.entries((view.inputs ?? {}) as Record<string, ViewSource>))
      inputs.set(name, this.#keep(await source.cache(scope)));
    const computation = new Computation({
      view,
      resource,
      variant,
      carried,
      readers: (here) => {
        const readers = [...inputs].map(([name, { cache }]) => [name, new CacheReader(cache, here)] as const);
        return Object.fromEntries(readers) as unknown as InputReaders<Inputs>;
      },
    });
    const unfollowed = { from, inputs: [...inputs.values()], computation };
    this.#listen(unfollowed);
    this.#stale = true;
    if (view.depends === undefined) return unfollowed;
    const again = (key?: ObjectKey): void =>
      key === undefined ? this.#invalidate(unfollowed) : this.#renew(unfollowed, key);
    return { ...unfollowed, followed: this.#keep(view.depends.follow(variant, again)) };
  }

  #listen(sources: Sources<In, Out, Variant, Inputs>): void {
    const anew = (): void => this.#invalidate(sources);
    const expired = (lease: CacheLease): CacheListener["expired"] => {
      return (message, rejected) => {
        if (rejected) this.#reject(lease, message);
        else {
          this.#rejecting.delete(lease);
          anew();
        }
      };
    };
    for (const lease of sources.inputs) this.#keep(lease.cache.listen({ event: anew, expired: expired(lease) }));
    const { from } = sources;
    this.#keep(from.cache.listen({ event: (event) => this.#follow(sources, event), expired: expired(from) }));
  }

  /**
   * Ends watches with 410 instead of DELETED: the objects still exist, and a client would take them for gone. Security: the cache
   * stays empty until all sources can be read, since what it shows may depend on any of them.
   */
  #reject(lease: CacheLease, message: string): void {
    this.#rejecting.add(lease);
    this.#stale = true;
    if (this.#isRejected) return;
    this.#isRejected = true;
    this.cache.reject(processMinter.next(), message);
  }

  /** Recomputes all objects at the end of the turn, or before the next read if that is sooner. */
  #invalidate(sources: Sources<In, Out, Variant, Inputs>): void {
    this.#stale = true;
    this.#plan(sources);
  }

  /** Recomputes one object at the same time. */
  #renew(sources: Sources<In, Out, Variant, Inputs>, key: ObjectKey): void {
    if (!this.#covers(key)) return;
    this.#again.set(cacheKey(key), key);
    this.#plan(sources);
  }

  #plan(sources: Sources<In, Out, Variant, Inputs>): void {
    if (this.#planned) return;
    this.#planned = true;
    queueMicrotask(() => {
      this.#planned = false;
      this.#recompute(sources);
    });
  }

  #covers({ cluster }: ObjectKey): boolean {
    const { cluster: own } = this.#options.scope;
    return own === "*" || own === "" || own === cluster;
  }

  #recompute(sources: Sources<In, Out, Variant, Inputs>): void {
    if (this.#rejecting.size > 0) return;
    if (this.#stale) this.#recomputeAll(sources);
    if (this.#again.size === 0) return;
    const { from, computation } = sources;
    const keys = [...this.#again.values()];
    this.#again.clear();
    for (const key of keys) {
      const source = from.cache.get(key);
      if (source !== undefined) this.#place(source, { computation, changed: false });
    }
  }

  #recomputeAll({ from, computation }: Sources<In, Out, Variant, Inputs>): void {
    this.#stale = false;
    this.#again.clear();
    // Views of this view learn that it can be read again.
    if (this.#isRejected) this.cache.reset([], processMinter.next(), READABLE);
    this.#isRejected = false;
    const { cluster } = this.#options.scope;
    const current = from.cache.snapshot().objects;
    for (const encoded of [...this.cache.snapshot().objects.values()]) {
      if (current.get(cacheKey(encoded.key)) === undefined) this.cache.delete(encoded.key, processMinter.next());
    }
    const place = { cluster: cluster === "*" ? "" : cluster, namespace: "" };
    for (const encoded of objectsIn(current, place)) this.#place(encoded, { computation, changed: false });
  }

  #follow({ computation }: Sources<In, Out, Variant, Inputs>, event: CacheEvent): void {
    if (!this.#covers(event.key) || this.#rejecting.size > 0) return;
    if (event.object !== undefined) this.#place(event.object, { computation, changed: true });
    else if (this.cache.get(event.key) !== undefined) this.cache.delete(event.key, processMinter.next());
  }

  /** Recomputes an object: it enters the view, changes in it, or leaves it. */
  #place(
    source: Encoded,
    {
      computation,
      changed,
    }: { readonly computation: Computation<In, Out, Variant, Inputs>; readonly changed: boolean },
  ): void {
    const { key } = source;
    let before = this.cache.get(key);
    if (before !== undefined && before.uid !== source.uid) {
      // The new object of that name gets its own version, so that a client that saw only the deletion resumes there.
      this.cache.delete(key, processMinter.next());
      before = undefined;
    }
    const read = (): ObjectOf<In> => decodeObject(source);
    const now = computation.show(read, key, (object) =>
      this.#encoded(object, key.cluster, changed ? undefined : before),
    );
    if (now === undefined && before !== undefined) this.cache.delete(key, processMinter.next());
    if (now === undefined || now === before) return;
    this.#madeFrom.set(now, source.resourceVersion);
    this.cache.set(now);
  }

  /** Encodes an object at a new version, or returns `before` when nothing has changed. */
  #encoded(object: ObjectOf<Out>, cluster: string, before: Encoded | undefined): Encoded {
    const encode = (version: string): Encoded => {
      object.metadata.resourceVersion = version;
      return encodeObject(object, cluster, this.#options.resource.selectableFields);
    };
    if (before !== undefined && encode(before.resourceVersion).bytes.equals(before.bytes)) return before;
    return encode(processMinter.next());
  }

  #keep<D extends Disposable>(held: D): D {
    this.#closing.push(held);
    return held;
  }

  #release(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.#idleSince = performance.now();
    this.#idle = setTimeout(
      () => {
        this.#options.onIdle();
        this.close();
      },
      timerDelay(this.#options.view.linger ?? 60_000),
    ).unref();
  }
}
