import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { apiVersionOf, type KubeObject, type ObjectKey, type ObjectMeta } from "@virtual-workspaces/apimachinery";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import { KindVersions, type ResourceDefinition, type TypedDefinition } from "../../definition.ts";
import type { CacheLease, DeleteOptions, Scope, Storage, WriteOptions } from "../../storage.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import type { ReadableCache } from "../../watch/cache/cache-event.ts";
import { type Encoded, isEncoded, keyIn } from "../../watch/cache/encoded.ts";
import { shareOf } from "../../watch/selection.ts";
import { SourceWrites } from "../../write/source-writes.ts";
import { modified } from "../../write/update.ts";
import type { Draft } from "../../write/write-request.ts";
import type { Mapped, WritableSource } from "../view-options.ts";
import { ConvertedCache, ConvertedEvents } from "./converted-cache.ts";
import { Conversions, conversion } from "./version-conversions.ts";

/** Another version of a kind, and the conversions to and from it. */
export interface ConvertedOptions<In extends object, Out extends object> {
  /** Objects in the stored version. */
  readonly from: WritableSource<In>;
  /** The other version: same kind, plural and scope. Its group may differ, as that of Kubernetes' Events. */
  readonly to: TypedDefinition<Out>;
  /**
   * Converts a copy of a stored object to the other version. Must depend on nothing else, and may change only labels and
   * annotations of the metadata; otherwise the request gets 500.
   * @default changes only `apiVersion`
   */
  readonly read?: (object: ObjectOf<In>) => Mapped<Out>;
  /** Converts back, under the same rules. What `to` cannot express is lost, unless `read` puts it into an annotation. */
  readonly write?: (object: ObjectOf<Out>) => Mapped<In>;
  /** Maximum size of converted objects that stay in memory while there are readers, in bytes. @default 16 MiB */
  readonly memory?: number;
  /** How long converted objects stay in memory without readers, in ms. @default 60000 */
  readonly linger?: number;
  /** Called when a conversion fails. @default a process warning */
  readonly onError?: (error: unknown, object: string) => void;
}

type Convert = ((object: KubeObject) => object) | undefined;

const MEMORY = 16 * 2 ** 20;
const LINGER = 60_000;

/**
 * The same objects in another version of their kind: the same uids, resource versions, events and history. A write is
 * converted, and stored only if the rules of the stored version allow it as well.
 */
export class Converted<In extends object, Out extends object> implements Storage<ObjectOf<Out>>, WritableSource<Out> {
  readonly resource: TypedDefinition<Out>;
  readonly lifecycle = "storage";
  readonly local: boolean;
  readonly storedAs: ResourceDefinition;
  readonly versions: KindVersions;
  readonly #from: WritableSource<In>;
  readonly #below: SourceWrites;
  readonly #read: (object: KubeObject) => KubeObject;
  readonly #write: (object: KubeObject) => KubeObject;
  readonly #conversions: Conversions;
  readonly #events: ConvertedEvents;
  readonly #caches = new WeakMap<ReadableCache, ConvertedCache>();
  readonly #linger: number;
  #readers = 0;
  #idle: NodeJS.Timeout | undefined;

  /** @throws Error when `to` is not another version of the kind of `from`, or one of that name exists already */
  constructor(options: ConvertedOptions<In, Out>) {
    const { from, to, read, write } = options;
    const kept = from.resource;
    checkVersions(kept, to);
    this.resource = to;
    this.#from = from;
    this.local = from.local === true;
    this.storedAs = from.storedAs ?? kept;
    const onError = options.onError ?? warn(to);
    this.#read = conversion({ from: kept, to, convert: read as unknown as Convert, onError });
    this.#write = conversion({ from: to, to: kept, convert: write as unknown as Convert, onError });
    this.versions = from.versions ?? new KindVersions(kept);
    this.versions.add({ definition: to, of: kept, read: this.#read, write: this.#write });
    this.#below = new SourceWrites({ above: to, kept, storage: from as unknown as Storage });
    const { selectableFields } = to;
    this.#conversions = new Conversions({
      convert: this.#read,
      selectableFields,
      capacity: options.memory ?? MEMORY,
      onKept: () => this.#rest(),
    });
    this.#events = new ConvertedEvents(this.#conversions);
    this.#linger = options.linger ?? LINGER;
  }

  /** Returns the objects in the stored version. */
  get from(): WritableSource<In> {
    return this.#from;
  }

  /** Returns the source's share key. */
  shareKey(scope: Scope): string {
    return shareOf(this.#from, scope);
  }

  cache(scope: Scope): Awaitable<CacheLease> {
    const lease = this.#from.cache(scope);
    return lease instanceof Promise ? lease.then((held) => this.#shared(held)) : this.#shared(lease);
  }

  ownAnnotations(key: string): boolean {
    return this.#from.ownAnnotations?.(key) === true;
  }

  carry(annotation: string): void {
    this.#from.carry?.(annotation);
  }

  /** Compares versions as the source does. */
  isCurrent(scope: Scope, sent: ObjectMeta, now: ObjectMeta): boolean {
    return this.#from.isCurrent?.(scope, sent, now) === true;
  }

  /** @throws ApiError 409 `AlreadyExists`, 422 by the rules of the stored version */
  async create(scope: Scope, object: ObjectOf<Out>, options: WriteOptions): Promise<ObjectOf<Out> | Encoded> {
    const written = await this.#below.create(this.#draft(object, scope, options), scope, this.#accepting(options));
    return this.#shown(written);
  }

  /** @throws ApiError 404, 409 when it has changed, 422 by the rules of the stored version */
  async update(scope: Scope, object: ObjectOf<Out>, options: WriteOptions): Promise<ObjectOf<Out> | Encoded> {
    const { resourceVersion } = object.metadata;
    const key = keyIn(scope, object.metadata);
    const make = (now: KubeObject): Draft => {
      if (now.metadata.resourceVersion !== resourceVersion) throw modified(this.resource, key.name);
      return this.#draft(object, scope, options);
    };
    return this.#shown(await this.#below.replace({ scope, key }, make, this.#accepting(options)));
  }

  /** @throws ApiError 404, 409 when it has changed */
  async delete(scope: Scope, key: ObjectKey, options: DeleteOptions): Promise<ObjectOf<Out> | Encoded | undefined> {
    const { object, gone } = await this.#below.delete({ scope, key }, options);
    return gone ? undefined : this.#shown(object);
  }

  /** Returns the object to store. The caller, which knows all versions, has set the owners of its fields. */
  #draft(object: KubeObject, scope: Scope, options: WriteOptions): Draft {
    const next = this.#write(cloneJson(object));
    this.#below.writer.conform(next, { scope, options, part: "" });
    return { object: next, by: "applying" };
  }

  #accepting(options: WriteOptions): WriteOptions {
    const { accept } = options;
    return accept === undefined ? options : { ...options, accept: (next) => accept(next && this.#read(next)) };
  }

  #shown(written: KubeObject | Encoded): ObjectOf<Out> | Encoded {
    return isEncoded(written) ? this.#conversions.of(written) : (this.#read(written) as ObjectOf<Out>);
  }

  #shared(lease: CacheLease): CacheLease {
    this.#readers += 1;
    clearTimeout(this.#idle);
    this.#idle = undefined;
    return {
      cache: this.#cacheOf(lease.cache),
      ...(lease.past === undefined ? {} : { past: this.#events.past(lease.past) }),
      confirm: (request) => lease.confirm(request),
      ...(lease.checkAbsent && { checkAbsent: lease.checkAbsent }),
      [Symbol.dispose]: () => {
        lease[Symbol.dispose]();
        this.#leave();
      },
    };
  }

  #cacheOf(source: ReadableCache): ConvertedCache {
    let cache = this.#caches.get(source);
    if (cache === undefined) {
      cache = new ConvertedCache(source, this.#conversions, this.#events);
      this.#caches.set(source, cache);
    }
    return cache;
  }

  #leave(): void {
    this.#readers -= 1;
    this.#rest();
  }

  /** Frees converted objects after a while without readers: a list converts objects after it has released its lease. */
  #rest(): void {
    if (this.#readers > 0) return;
    if (this.#idle !== undefined) this.#idle.refresh();
    else this.#idle = setTimeout(() => this.#conversions.forget(), this.#linger).unref();
  }
}

/**
 * Serves a kind in another version. `read` and `write` are required where the two versions differ in form.
 *
 * @throws Error when `to` is not another version of the kind of `from`, or one of that name exists already
 *
 * @example
 * ```ts
 * import { converted, defineResource } from "@virtual-workspaces/framework";
 *
 * const kind = { group: "example.dev", kind: "Timer", scope: "Namespaced" } as const;
 * const Timer = defineResource({
 *   ...kind,
 *   version: "v1",
 *   spec: { type: "object", required: ["seconds"], properties: { seconds: { type: "integer" } } },
 * });
 * const TimerV1beta1 = defineResource({
 *   ...kind,
 *   version: "v1beta1",
 *   spec: { type: "object", required: ["minutes"], properties: { minutes: { type: "integer" } } },
 * });
 * const timers = Timer.collection();
 * const beta = converted({
 *   from: timers,
 *   to: TimerV1beta1,
 *   read: ({ spec }) => ({ spec: { minutes: Math.ceil(spec.seconds / 60) } }),
 *   write: ({ spec }) => ({ spec: { seconds: spec.minutes * 60 } }),
 * });
 * const resources = [Timer.serve(timers), TimerV1beta1.serve(beta)];
 * ```
 * @see docs/how-to/versions.md
 */
export function converted<In extends object, Out extends object>(
  options: ConvertedOptions<In, Out> & NeedsConversion<In, Out>,
): Converted<In, Out> {
  return new Converted(options);
}

type NeedsConversion<In extends object, Out extends object> = ([In] extends [Out]
  ? object
  : Required<Pick<ConvertedOptions<In, Out>, "read">>) &
  ([Out] extends [In] ? object : Required<Pick<ConvertedOptions<In, Out>, "write">>);

function checkVersions(kept: ResourceDefinition, to: ResourceDefinition): void {
  const names = ["kind", "plural", "scope"] as const;
  const different = names.filter((name) => kept[name] !== to[name]);
  const what = `converted: ${apiVersionOf(to)} ${to.kind} is not another version of ${apiVersionOf(kept)} ${kept.kind}`;
  if (different.length > 0) throw new Error(`${what}: ${different.join(", ")} must be equal`);
  if (apiVersionOf(kept) === apiVersionOf(to)) throw new Error(`${what}: version must differ`);
}

function warn({ plural, version }: ResourceDefinition): (error: unknown, object: string) => void {
  return (error, object) =>
    process.emitWarning(`converting ${plural} ${object} to or from ${version} failed: ${String(error)}`);
}
