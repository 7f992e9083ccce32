import { isApiError, type KindReference, type ObjectKey, parseApiVersion } from "@virtual-workspaces/apimachinery";
import { type Client, type Controller, controller, type ReconcileResult } from "@virtual-workspaces/client";
import { LogicalCluster } from "../kinds/logical-cluster.ts";
import { Mount } from "../kinds/mount.ts";
import { Workspace } from "../kinds/workspace.ts";
import type { RelatedObject, RelatedObjects, RelatedReference } from "../targets/target.ts";
import { paced } from "./paced.ts";
import { WatchedPlace } from "./watched-place.ts";

/** Shard of {@link Related}. */
export interface RelatedShard {
  /** Client for the shard. */
  readonly client: Client;
  /** Whether a logical cluster, by its name, is known to be on the shard. */
  readonly has: (cluster: string) => boolean;
}

/** Options of {@link Related}. */
export interface RelatedOptions {
  /** Client for the logical clusters of all shards, by name or path. */
  readonly client: Client;
  /** Shard whose objects of a resource share one watch. @default none: the objects of each logical cluster share one */
  readonly shard?: RelatedShard;
  /** Called when an object changes that the dependent uses. */
  readonly changed: (dependent: string) => void;
  /** Receives failures, once for each message until the watch works again. The reads are retried. */
  readonly onError: (error: unknown) => void;
  /** Maximum number of watches. Objects beyond them are read again from time to time. @default 500 */
  readonly maxWatches?: number;
}

interface Shared {
  readonly reference: RelatedReference;
  readonly dependents: Set<string>;
  isOwn: boolean;
  /** @default not looked up yet, or not served */
  kind?: KindReference;
  place?: WatchedPlace;
  state: RelatedObject;
}

const SECRET: KindReference = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };
/** Kinds that need no discovery. */
const KNOWN: readonly KindReference[] = [SECRET, LogicalCluster, Workspace, Mount] as readonly KindReference[];
const WATCHES = 500;
/** Objects that are read at the same time. */
const AT_ONCE = 16;
/** Minimum delay until an object that no watch reports is read again, in ms. */
const AGAIN = 2_000;
/** Names that are safe in a path. No object has another name. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/;
/** Status codes for a missing or hidden object. kcp answers 403 for a missing workspace. */
const ABSENT: readonly number[] = [403, 404];

/**
 * Cache of single objects that others depend on, of any kind. A watch of metadata reports their changes, and each changed object is
 * read by its name. All objects of a resource on the shard share one watch, and so do those of any other logical cluster: thousands of
 * objects need few watches. Memory: the named objects, and some hundred bytes for each.
 *
 * Security: the watches show names and annotations of other objects too, which are dropped. Only named objects are read, such as
 * Secrets.
 */
export class Related implements AsyncDisposable {
  readonly #options: RelatedOptions;
  readonly #shared = new Map<string, Shared>();
  /** Keys of the objects of each dependent. */
  readonly #used = new Map<string, ReadonlySet<string>>();
  readonly #places = new Map<string, WatchedPlace>();
  /** Places with a watch. */
  readonly #watched = new Set<WatchedPlace>();
  /** Objects that no watch reports. */
  readonly #again = new Set<string>();
  readonly #reads: Controller;
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(options: RelatedOptions) {
    this.#options = options;
    this.#reads = controller({
      name: "related-objects",
      sources: [],
      reconcile: ({ name: key }, { signal }) => this.#read(key, signal),
      workers: AT_ONCE,
      grace: 0,
      onError: ({ error }) => this.#options.onError(error),
    });
  }

  /** Number of objects. */
  get size(): number {
    return this.#shared.size;
  }

  /** Calls `look` for a dependent, which depends on exactly the objects that it uses in this call. @throws what `look` throws */
  reading<R>(dependent: string, look: (objects: RelatedObjects) => R): R {
    const used = new Set<string>();
    try {
      return look({ get: (reference) => this.#get(reference, { dependent, used }) });
    } finally {
      this.#leave(dependent, used);
    }
  }

  /** Removes a dependent. */
  forget(dependent: string): void {
    this.#leave(dependent, new Set());
  }

  /** Stops all watches. `changed` is not called afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const key of [...this.#shared.keys()]) this.#drop(key);
    await Promise.all([this.#reads.stop(), ...this.#ending]);
  }

  #get(reference: RelatedReference, { dependent, used }: { dependent: string; used: Set<string> }): RelatedObject {
    const { cluster, apiVersion, kind, namespace = "", name } = reference;
    const key = JSON.stringify([cluster, apiVersion, kind, namespace, name]);
    used.add(key);
    if (this.#closed) return { state: "unknown" };
    const shared = this.#shared.get(key) ?? this.#follow(key, reference);
    shared.dependents.add(dependent);
    if (!shared.isOwn && this.#isOwn(cluster)) this.#move(key, shared);
    return shared.state;
  }

  #follow(key: string, reference: RelatedReference): Shared {
    const isOwn = this.#isOwn(reference.cluster);
    const state = isOne(reference) ? "unknown" : "absent";
    const shared: Shared = { reference, dependents: new Set(), isOwn, state: { state } };
    this.#shared.set(key, shared);
    this.#enqueue(key);
    return shared;
  }

  #isOwn(cluster: string): boolean {
    return this.#options.shard?.has(cluster) === true;
  }

  /** Lets the watch of the shard report an object whose logical cluster was not known to be there. */
  #move(key: string, shared: Shared): void {
    this.#release(key, shared);
    shared.isOwn = true;
    this.#enqueue(key);
  }

  #leave(dependent: string, used: ReadonlySet<string>): void {
    for (const key of this.#used.get(dependent) ?? []) {
      const dependents = used.has(key) ? undefined : this.#shared.get(key)?.dependents;
      if (dependents?.delete(dependent) === true && dependents.size === 0) this.#drop(key);
    }
    if (used.size === 0) this.#used.delete(dependent);
    else this.#used.set(dependent, used);
  }

  #drop(key: string): void {
    const shared = this.#shared.get(key);
    this.#shared.delete(key);
    this.#again.delete(key);
    if (shared !== undefined) this.#release(key, shared);
  }

  #enqueue(key: string): void {
    const reference = this.#shared.get(key)?.reference;
    if (reference !== undefined && isOne(reference))
      this.#reads.add({ cluster: reference.cluster, namespace: "", name: key });
  }

  async #read(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const shared = this.#shared.get(key);
    if (shared === undefined) return undefined;
    const isWatched = await this.#refresh(key, shared, signal);
    if (isWatched || this.#shared.get(key) !== shared) {
      this.#again.delete(key);
      return undefined;
    }
    this.#again.add(key);
    return { requeueAfter: paced(AGAIN, this.#again.size) };
  }

  /** Reads an object. @returns whether its watch reports further changes */
  async #refresh(key: string, shared: Shared, signal: AbortSignal): Promise<boolean> {
    try {
      const kind = shared.kind ?? (await this.#kindOf(shared, signal));
      if (this.#shared.get(key) !== shared) return false;
      if (kind === undefined) return this.#set(shared, { state: "unserved" });
      shared.kind = kind;
      const place = this.#hold(key, shared, kind);
      // It reports all of its objects when it is open.
      if (place.state === "opening") return true;
      this.#set(shared, await this.#found(shared, kind, signal));
      if (shared.state.state === "unserved") this.#release(key, shared);
      return shared.place?.state === "open";
    } catch (error) {
      // The last state stays while the server is unavailable.
      if (signal.aborted) return false;
      const report = (): void =>
        shared.place === undefined ? this.#options.onError(error) : shared.place.report(error);
      // 400: an invalid kind, which no server has.
      const isInvalid = isApiError(error) && error.code === 400;
      if (isAbsent(error) || isInvalid) this.#set(shared, { state: "unserved" });
      else report();
      return isInvalid;
    }
  }

  /** Returns the kind. @returns `undefined` if it is not served @throws the server's error */
  async #kindOf(shared: Shared, signal: AbortSignal): Promise<KindReference | undefined> {
    const { cluster, apiVersion, kind } = shared.reference;
    const { group = "", version = "" } = parseApiVersion(apiVersion) ?? {};
    const known = KNOWN.find((one) => one.group === group && one.kind === kind && one.version === version);
    return known ?? this.#clientOf(shared).cluster(cluster).discovery().find({ group, version, kind }, { signal });
  }

  async #found({ reference, ...shared }: Shared, kind: KindReference, signal: AbortSignal): Promise<RelatedObject> {
    const { cluster, namespace, name } = reference;
    const all = this.#clientOf(shared).cluster(cluster).resource<object>(kind);
    const isNamespaced = kind.scope === "Namespaced";
    if (isNamespaced && namespace === undefined) return { state: "absent" };
    try {
      const object = await (isNamespaced ? all.in(namespace ?? "") : all).get(name, { signal });
      delete object.metadata.managedFields;
      return { state: "found", object };
    } catch (error) {
      if (!isAbsent(error)) throw error;
      // A 404 for a missing object names it; one for a missing kind or workspace does not.
      return { state: isApiError(error) && error.status.details?.name === name ? "absent" : "unserved" };
    }
  }

  #clientOf({ isOwn }: Pick<Shared, "isOwn">): Client {
    const { client, shard } = this.#options;
    return isOwn && shard !== undefined ? shard.client : client;
  }

  /** Returns the place of an object, whose watch reports its changes. */
  #hold(key: string, shared: Shared, kind: KindReference): WatchedPlace {
    if (shared.place !== undefined) return shared.place;
    const id = placeId(shared, kind);
    const place = this.#places.get(id) ?? this.#newPlace(shared, kind);
    this.#places.set(id, place);
    place.hold(objectKey(shared.reference, kind), key);
    shared.place = place;
    this.#watch(place);
    return place;
  }

  #newPlace(shared: Shared, kind: KindReference): WatchedPlace {
    const at = this.#clientOf(shared).cluster(shared.isOwn ? "*" : shared.reference.cluster);
    const { onError } = this.#options;
    return new WatchedPlace({ resource: at.metadata(kind), changed: (key) => this.#enqueue(key), onError });
  }

  #watch(place: WatchedPlace): void {
    const { maxWatches = WATCHES } = this.#options;
    if (this.#watched.has(place) || this.#watched.size >= maxWatches) return;
    this.#watched.add(place);
    place.start();
  }

  #release(key: string, shared: Shared): void {
    const { place, kind, reference } = shared;
    if (place === undefined || kind === undefined) return;
    delete shared.place;
    delete shared.kind;
    place.release(objectKey(reference, kind), key);
    if (place.isUsed) return;
    this.#places.delete(placeId(shared, kind));
    const ending = place[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    if (!this.#watched.delete(place) || this.#closed) return;
    const next = [...this.#places.values()].find(({ state }) => state === "unwatched");
    if (next !== undefined) this.#watch(next);
  }

  /** @returns false */
  #set(shared: Shared, state: RelatedObject): false {
    const before = shared.state;
    shared.state = state;
    const isSame = before.state === state.state && versionOf(before) === versionOf(state);
    if (isSame || this.#closed) return false;
    for (const dependent of [...shared.dependents]) this.#options.changed(dependent);
    return false;
  }
}

function isOne({ namespace, name }: RelatedReference): boolean {
  return NAME.test(name) && (namespace === undefined || NAME.test(namespace));
}

function objectKey({ cluster, namespace = "", name }: RelatedReference, { scope }: KindReference): ObjectKey {
  return { cluster, namespace: scope === "Namespaced" ? namespace : "", name };
}

function placeId({ isOwn, reference }: Shared, { group, plural }: KindReference): string {
  return `${isOwn ? "*" : reference.cluster}|${plural}.${group}`;
}

function isAbsent(error: unknown): boolean {
  return isApiError(error) && ABSENT.includes(error.code);
}

function versionOf(one: RelatedObject): string | undefined {
  return one.state === "found" ? one.object.metadata.resourceVersion : undefined;
}
