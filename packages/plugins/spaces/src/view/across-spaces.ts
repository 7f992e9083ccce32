import {
  ApiError,
  isApiError,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
} from "@virtual-workspaces/apimachinery";
import { impersonated } from "@virtual-workspaces/forwarding";
import {
  type Merged,
  type MergedOptions,
  merged,
  type PlacedSource,
  SOURCE_VERSION_ANNOTATION,
  type TypedDefinition,
} from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import {
  type CacheEvent,
  type CacheLease,
  type CacheListener,
  type DeleteOptions,
  type Encoded,
  type PatchOptions,
  type Position,
  processMinter,
  type ReadableCache,
  type Scope,
  type Snapshot,
  type Storage,
  type WriteOptions,
  type Written,
} from "@virtual-workspaces/framework/storage";
import type { SpaceName } from "../client/space-name.ts";
import { SPACE_ANNOTATION } from "../kinds/names.ts";
import { AcrossWrite, OWN_ANNOTATIONS } from "./across-write.ts";
import type { ServedSpace, ServingOptions } from "./served-space.ts";
import { ambiguous, pathTo } from "./space-path.ts";

/** Options of a collection across Spaces. */
export interface AcrossOptions extends ServingOptions, Pick<MergedOptions<object>, "partial" | "patience"> {}

/** Objects of one kind in several Spaces as one collection. Writes go to the object's Space; creation is impossible without one. */
export class AcrossSpaces implements Storage<KubeObject> {
  readonly resource: TypedDefinition<object>;
  readonly local = true;
  readonly lifecycle = "storage";
  readonly #options: AcrossOptions;
  readonly #spaces = new Map<SpaceName, ServedSpace>();
  readonly #caches = new WeakMap<ReadableCache, AcrossCache>();
  /** Last error of each failing Space. */
  readonly #told = new Map<SpaceName, string>();
  /** Created at the first read, since most kinds are never read. */
  #merged: Merged<object> | undefined;

  constructor(resource: TypedDefinition<object>, options: AcrossOptions) {
    this.resource = resource;
    this.#options = options;
  }

  /** Adds a Space, or replaces an earlier one with the same name. */
  place(space: ServedSpace): void {
    if (this.#spaces.get(space.name) === space) return;
    this.#spaces.set(space.name, space);
    this.#merged?.setSource(space.name, this.#source(space));
  }

  /** Removes a Space and its objects. */
  withdraw(name: SpaceName): void {
    this.#told.delete(name);
    if (this.#spaces.delete(name)) this.#merged?.deleteSource(name);
  }

  shareKey(scope: Scope): string {
    return this.#all.shareKey(everywhere(scope));
  }

  async cache(scope: Scope): Promise<CacheLease> {
    const lease = await this.#all.cache(everywhere(scope));
    return Object.assign(Object.create(lease) as CacheLease, {
      cache: this.#across(lease.cache),
      [Symbol.dispose]: () => lease[Symbol.dispose](),
    });
  }

  ownAnnotations(key: string): boolean {
    return OWN_ANNOTATIONS.includes(key);
  }

  /** For a version from another process or from before a restart, the annotations give the Space's own version. */
  isCurrent(_scope: Scope, sent: ObjectMeta, now: ObjectMeta): boolean {
    if (processMinter.issued(sent.resourceVersion ?? "")) return false;
    return [SPACE_ANNOTATION, SOURCE_VERSION_ANNOTATION].every(
      (key) => sent.annotations?.[key] !== undefined && sent.annotations[key] === now.annotations?.[key],
    );
  }

  update(scope: Scope, object: KubeObject, options: WriteOptions): Promise<KubeObject | Encoded> {
    return this.#write(scope, object.metadata, (write) => write.update(object, options));
  }

  patch(scope: Scope, key: ObjectKey, patch: PatchOptions): Promise<Written> {
    return this.#write(scope, key, (write) => write.patch(patch));
  }

  delete(scope: Scope, key: ObjectKey, options: DeleteOptions): ReturnType<NonNullable<Storage["delete"]>> {
    return this.#write(scope, key, (write) => write.delete(options));
  }

  async #write<R>(
    scope: Scope,
    { namespace = "", name = "" }: Pick<ObjectMeta, "name" | "namespace">,
    run: (write: AcrossWrite) => Promise<R>,
  ): Promise<R> {
    const lease = await this.#all.cache(everywhere(scope));
    try {
      const { space, shown } = this.#found(lease.cache, { cluster: "", namespace, name });
      if (space === undefined || shown === undefined) throw ApiError.notFound(groupResourceOf(this.resource), name);
      const objects = space.objects(this.resource);
      if (objects === undefined) throw ApiError.serviceUnavailable(`the space ${space.name} is unreachable`);
      return await run(new AcrossWrite({ lease, shown, objects, scope: { ...scope, cluster: "", namespace } }));
    } finally {
      lease[Symbol.dispose]();
    }
  }

  get #all(): Merged<object> {
    this.#merged ??= this.#made();
    return this.#merged;
  }

  #made(): Merged<object> {
    const { identity, partial, patience, history } = this.#options;
    const spaces = [...this.#spaces.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return merged({
      resource: this.resource,
      sources: Object.fromEntries(spaces.map((space) => [space.name, this.#source(space)])),
      // Callers share a stream if Spaces see the same identity.
      shareKey: ({ identity: caller }) => (identity === "none" ? "" : JSON.stringify(impersonated(caller))),
      ...(partial && { partial }),
      ...(patience !== undefined && { patience }),
      ...(history && { history }),
      onError: (error, name) => this.#failed(name, error),
    });
  }

  /** Reports an error once. Errors that a Space returned were already reported by the request. */
  #failed(name: SpaceName, error: unknown): void {
    if (isApiError(error) || this.#told.get(name) === String(error)) return;
    this.#told.set(name, String(error));
    this.#options.onError(name, error);
  }

  #source(space: ServedSpace): PlacedSource {
    const { name, cluster } = space;
    return {
      source: space.source(this.resource),
      cluster,
      annotations: { [SPACE_ANNOTATION]: name },
      leftOut: () => space.leftOut,
    };
  }

  #across(cache: ReadableCache): AcrossCache {
    const known = this.#caches.get(cache) ?? new AcrossCache(cache, (key) => this.#found(cache, key).shown);
    this.#caches.set(cache, known);
    return known;
  }

  /** Returns the Space of the object with a name. @throws ApiError 400 if several Spaces have one */
  #found(cache: ReadableCache, key: ObjectKey): { readonly space?: ServedSpace; readonly shown?: Encoded } {
    const found = [...this.#spaces.values()].flatMap((space) => {
      const shown = cache.get({ ...key, cluster: space.cluster });
      return shown === undefined ? [] : { space, shown };
    });
    const [first, ...others] = found;
    if (others.length === 0) return first ?? {};
    found.sort((a, b) => (a.space.name < b.space.name ? -1 : 1));
    const places = found.slice(0, MOST_NAMED).map(({ space }) => pathTo(space.space));
    const more = found.length > MOST_NAMED ? `, and ${found.length - MOST_NAMED} more` : "";
    const message = `several spaces have an object with this name: use one of ${places.join(", ")}${more}`;
    throw ambiguous(groupResourceOf(this.resource), key.name, message);
  }
}

/** Maximum number of Spaces that the error lists. */
const MOST_NAMED = 5;

const everywhere = (scope: Scope): Scope => ({ ...scope, cluster: "*" });

/** Cache across Spaces for readers that do not name one: a key without a Space finds an object in any Space. */
class AcrossCache implements ReadableCache {
  readonly #cache: ReadableCache;
  readonly #find: (key: ObjectKey) => Encoded | undefined;

  /** @param find returns the object with a name in any Space; throws if several have one */
  constructor(cache: ReadableCache, find: (key: ObjectKey) => Encoded | undefined) {
    this.#cache = cache;
    this.#find = find;
  }

  get head(): string {
    return this.#cache.head;
  }

  get size(): number {
    return this.#cache.size;
  }

  get first(): number {
    return this.#cache.first;
  }

  get next(): number {
    return this.#cache.next;
  }

  get(key: ObjectKey): Encoded | undefined {
    return key.cluster === "" ? this.#find(key) : this.#cache.get(key);
  }

  snapshot(): Snapshot {
    return this.#cache.snapshot();
  }

  at(version: string): Snapshot | "expired" | "ahead" {
    return this.#cache.at(version);
  }

  isForeign(version: string): boolean {
    return this.#cache.isForeign(version);
  }

  position(version: string): Position {
    return this.#cache.position(version);
  }

  reached(version: string): boolean {
    return this.#cache.reached(version);
  }

  reach(version: string, options: Parameters<ReadableCache["reach"]>[1]): Promise<void> {
    return this.#cache.reach(version, options);
  }

  event(position: number): CacheEvent {
    return this.#cache.event(position);
  }

  listen(listener: CacheListener): Disposable {
    return this.#cache.listen(listener);
  }
}
