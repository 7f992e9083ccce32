import { ApiError, CLUSTER_ANNOTATION, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import { groupResourceOf, type ResourceDefinition } from "../definition.ts";
import { isStatus, type RequestOptions, type Scope, type Storage } from "../storage.ts";
import { decodeObject, type Encoded, isEncoded } from "../watch/cache/encoded.ts";
import { racing, throwIfCancelled } from "./conflicts.ts";
import { inCluster } from "./own-annotations.ts";
import type { WriteRequest } from "./write-request.ts";
import type { KindRules } from "./write-rules.ts";

/** Result of a delete. */
export interface Deleted {
  /** The object: as it was before its removal, or marked as being deleted. */
  readonly object: KubeObject | Encoded;
  /** Whether the object was removed; otherwise something blocks the removal. */
  readonly gone: boolean;
}

/** Objects to write, and their storage. */
export interface CommitSubject {
  readonly definition: ResourceDefinition;
  readonly storage: Storage;
  readonly rules: Pick<KindRules, "fillDefaults">;
}

/** Last step of a write: the call of the storage, which a dry run skips. */
export class WriteCommit {
  readonly #definition: ResourceDefinition;
  readonly #storage: Storage;
  readonly #rules: CommitSubject["rules"];

  constructor({ definition, storage, rules }: CommitSubject) {
    this.#definition = definition;
    this.#storage = storage;
    this.#rules = rules;
  }

  /** @throws ApiError 409 when the name is taken */
  async add(next: KubeObject, request: WriteRequest): Promise<KubeObject | Encoded> {
    const { scope, options } = request;
    const { create, cache, lifecycle } = this.#storage;
    if (create === undefined) throw ApiError.methodNotAllowed(groupResourceOf(this.#definition), "create");
    throwIfCancelled(options);
    // A removed status gets its defaults again: Kubernetes sets them when it reads a stored object.
    if (lifecycle !== "storage" && this.#definition.subresources.status) this.#rules.fillDefaults(next);
    if (lifecycle === "storage") return create.call(this.#storage, scope, next, options);
    // Protects objects from a `create` that replaces them. A storage with its own history checks by itself.
    if (options.dryRun || cache === undefined) await this.#checkFree(next, request);
    if (!options.dryRun) return create.call(this.#storage, scope, next, options);
    return this.#storage.ownAnnotations?.(CLUSTER_ANNOTATION) === true ? inCluster(next, scope.cluster) : next;
  }

  async #checkFree({ metadata }: KubeObject, request: WriteRequest): Promise<void> {
    const { name = "", namespace = "" } = metadata;
    const there = await this.read({ cluster: request.scope.cluster, namespace, name }, request);
    if (there !== undefined) throw ApiError.alreadyExists(groupResourceOf(this.#definition), name);
  }

  /** @throws ApiError 409 when the object has changed since it was read: the write is then repeated */
  async keep(next: KubeObject, { scope, options }: WriteRequest): Promise<KubeObject | Encoded> {
    const { update, lifecycle } = this.#storage;
    if (update === undefined) throw ApiError.methodNotAllowed(groupResourceOf(this.#definition), "update");
    if (options.dryRun && lifecycle !== "storage") return next;
    return racing(options, () => update.call(this.#storage, scope, next, options));
  }

  /** Removes an object, unless the storage reports that something blocks the removal. */
  async remove(before: KubeObject, { scope, options }: WriteRequest): Promise<Deleted> {
    if (options.dryRun) return { object: before, gone: true };
    const { name = "", namespace = "", resourceVersion } = before.metadata;
    const preconditions = resourceVersion === undefined ? {} : { preconditions: { resourceVersion } };
    const key = { cluster: scope.cluster, namespace, name };
    const remove = () => this.#storage.delete?.(scope, key, { ...options, signal: options.signal, ...preconditions });
    const left = await racing(options, remove);
    // An unchanged object was removed; a changed one is still there.
    const held = left !== undefined && !isStatus(left) && versionOf(left) !== resourceVersion;
    return held ? { object: left, gone: false } : { object: before, gone: true };
  }

  /** Forwards a delete to a storage with a lifecycle of its own. */
  async passDelete(
    key: ObjectKey,
    { before, query }: { readonly before: KubeObject; readonly query: DeleteQuery },
    { scope, options }: WriteRequest,
  ): Promise<Deleted> {
    const left = await racing(options, () =>
      this.#storage.delete?.(scope, key, { ...options, signal: options.signal, ...query }),
    );
    return left === undefined || isStatus(left) ? { object: before, gone: true } : { object: left, gone: false };
  }

  read(key: ObjectKey, { scope, options }: WriteRequest): Promise<StoredValue | undefined> {
    return readKept(this.#storage, { scope, key }, options);
  }

  notFound({ name }: ObjectKey): ApiError {
    return ApiError.notFound(groupResourceOf(this.#definition), name);
  }
}

function versionOf(object: KubeObject | Encoded): string | undefined {
  return isEncoded(object) ? object.resourceVersion : object.metadata.resourceVersion;
}

/** A stored object. Bytes are parsed once: a clone takes a third of the time. */
export class StoredValue {
  readonly stored: Encoded | KubeObject;
  #object: KubeObject | undefined;

  constructor(stored: Encoded | KubeObject) {
    this.stored = stored;
  }

  /** The object, for readers that do not change it. */
  get object(): KubeObject {
    this.#object ??= isEncoded(this.stored) ? decodeObject(this.stored) : structuredClone(this.stored);
    return this.#object;
  }

  /** Returns a new copy. */
  copy(): KubeObject {
    return isEncoded(this.stored) ? cloneJson(this.object) : structuredClone(this.stored);
  }
}

/** Place of an object to read. */
interface Reading {
  readonly scope: Scope;
  readonly key: ObjectKey;
}

/** Reads the object before a write, no staler than the source, from the storage or, without such a method, from its cache. */
export async function readKept(
  storage: Storage,
  at: Reading,
  options: RequestOptions,
): Promise<StoredValue | undefined> {
  const { scope, key } = at;
  const read = storage.getCurrent ?? storage.get;
  const stored = await (read === undefined ? fromCache(storage, at, options) : read.call(storage, scope, key, options));
  return stored === undefined ? undefined : new StoredValue(stored);
}

async function fromCache(
  storage: Storage,
  { scope, key }: Reading,
  options: RequestOptions,
): Promise<Encoded | undefined> {
  const lease = await storage.cache?.(scope);
  try {
    await lease?.confirm(options);
    const found = lease?.cache.get(key);
    if (found === undefined) lease?.checkAbsent?.();
    return found;
  } finally {
    lease?.[Symbol.dispose]();
  }
}
