import { isDeepStrictEqual } from "node:util";
import {
  ApiError,
  type DeleteQuery,
  dnsLabelProblems,
  isClusterName,
  type KubeObject,
  nameProblems,
  type ObjectKey,
} from "@virtual-workspaces/apimachinery";
import { MAX_BODY } from "../body/limits.ts";
import { groupResourceOf, type TypedDefinition } from "../definition.ts";
import { CLUSTER_ANNOTATION, decodeObject, type Encoded, encodeObject, keyIn } from "../encoded.ts";
import type { ObjectOf } from "../resource-schema.ts";
import type { CacheLease, DeleteOptions, Scope, Storage } from "../storage.ts";
import { type HistoryOptions, WatchCache } from "../watch/cache.ts";
import { processMinter } from "../watch/minter.ts";
import { objectsIn } from "../watch/objects.ts";
import { decideDeletion, isReleased } from "../write/deletion.ts";
import { fieldOwners } from "../write/field-owners.ts";
import { KindVersions } from "../write/kind-versions.ts";
import type { FieldOwners } from "../write/rules.ts";
import { modified } from "../write/update.ts";
import { comparable, described, type ObjectDetails, specOf, stamped } from "./authored.ts";
import { CollectionPart } from "./part.ts";

/** What being deleted may add to an object, bytes. */
const MARKS = 4096;

/** How a collection keeps its objects. */
export interface CollectionOptions {
  /** How much of the past a client may resume from. */
  readonly history?: HistoryOptions;
  /** As {@link Storage.garbageCollected}. @default false */
  readonly garbageCollected?: boolean;
  /** The time that becomes `metadata.creationTimestamp`. @default the clock */
  readonly now?: () => Date;
}

/** Whose the fields are that an author's code sets, in `managedFields`. */
const AUTHOR = "virtual-workspaces";

/**
 * Objects of one kind in memory, over all logical clusters, with one line of versions. A change is an event in every
 * open watch before the call returns. It mints uid, resourceVersion, generation and creationTimestamp.
 */
export class Collection<T extends object = object> implements Storage<ObjectOf<T>> {
  readonly resource: TypedDefinition<T>;
  readonly garbageCollected: boolean;
  readonly versions: KindVersions;
  readonly #cache: WatchCache;
  readonly #lease: CacheLease;
  readonly #now: () => Date;
  #owners: FieldOwners | undefined;

  constructor(resource: TypedDefinition<T>, options: CollectionOptions = {}) {
    this.resource = resource;
    this.versions = new KindVersions(resource);
    this.garbageCollected = options.garbageCollected ?? false;
    this.#now = options.now ?? (() => new Date());
    this.#cache = new WatchCache({
      version: processMinter.next(),
      minter: processMinter,
      ...(options.history === undefined ? {} : { history: options.history }),
    });
    this.#lease = { cache: this.#cache, confirm: () => undefined, [Symbol.dispose]: () => undefined };
  }

  cache(): CacheLease {
    return this.#lease;
  }

  /** Whose an object is, is not for clients to say. */
  ownAnnotations(key: string): boolean {
    return key === CLUSTER_ANNOTATION;
  }

  /** The objects are the same for everybody. */
  shareKey(): string {
    return "";
  }

  /**
   * The objects of one logical cluster ("" where the path has none) and, for namespaced kinds, one namespace.
   *
   * @throws ApiError 400 on a malformed name, or a namespace missing or given against the kind's scope.
   */
  in(cluster: string, namespace = ""): CollectionPart<T> {
    const namespaced = this.resource.scope === "Namespaced";
    if (cluster !== "" && !isClusterName(cluster))
      throw ApiError.badRequest(`${JSON.stringify(cluster)} is not a logical cluster name`);
    if (namespaced !== (namespace !== "")) {
      const remedy = namespaced ? "name a namespace as the second argument" : "leave the namespace out";
      throw ApiError.badRequest(`${this.resource.kind} is ${namespaced ? "" : "not "}namespaced: ${remedy}`);
    }
    const problems = namespaced ? dnsLabelProblems(namespace) : [];
    if (problems.length > 0)
      throw ApiError.badRequest(`namespace ${JSON.stringify(namespace)}: ${problems.join(", ")}`);
    return new CollectionPart<T>(this, { cluster, namespace });
  }

  /** @internal */
  write(key: ObjectKey, details: ObjectDetails, content: (before: ObjectOf<T> | undefined) => object): ObjectOf<T> {
    const problems = nameProblems(key.name);
    if (problems.length > 0) throw this.#invalidName(key.name, problems);
    const before = this.read(key);
    const next = { ...described(key.cluster, details, before?.metadata), content: content(before) };
    if (before !== undefined && isDeepStrictEqual(next, comparable(before))) return before;
    const minted = { key, definition: this.resource, now: this.#now(), resourceVersion: processMinter.next() };
    const object = this.#owned(stamped(next, before, minted) as ObjectOf<T>, before);
    if (before !== undefined && isReleased(object, before)) {
      this.#cache.delete(key, processMinter.next());
      return object;
    }
    this.#cache.set(encodeObject(object, key.cluster, this.resource.selectableFields));
    return object;
  }

  /** @internal */
  read(key: ObjectKey): ObjectOf<T> | undefined {
    const encoded = this.#cache.get(key);
    return encoded === undefined ? undefined : decodeObject<ObjectOf<T>>(encoded);
  }

  /** @internal */
  remove(key: ObjectKey, options: Pick<DeleteQuery, "gracePeriodSeconds">): boolean {
    const before = this.read(key);
    if (before === undefined) return false;
    const { gracePeriodSeconds } = this.resource;
    const rules = { now: this.#now(), garbageCollected: false, gracePeriodSeconds };
    const deletion = decideDeletion(before, { dryRun: false, ...options }, rules);
    if (deletion.kind === "remove") this.#cache.delete(key, processMinter.next());
    if (deletion.kind === "mark") this.#keep(key, deletion.object);
    return true;
  }

  /** Keeps a new object of a client. Its framework asks; authors use {@link in}. @throws ApiError 409 when there is one, 413 above 3 MiB */
  create(scope: Scope, object: ObjectOf<T>): Encoded {
    const key = keyIn(scope, object.metadata);
    if (this.#cache.get(key) !== undefined) throw ApiError.alreadyExists(groupResourceOf(this.resource), key.name);
    return this.#keep(key, object, MAX_BODY);
  }

  /** Replaces an object for a client. @throws ApiError 404, 409 when it is not at the version that `object` has, 413 above 3 MiB */
  update(scope: Scope, object: ObjectOf<T>): Encoded {
    const key = keyIn(scope, object.metadata);
    const { bytes } = this.#current(key, object.metadata.resourceVersion);
    // What is too large already must not grow, but go it may.
    const marks = object.metadata.deletionTimestamp === undefined ? 0 : MARKS;
    return this.#keep(key, object, Math.max(MAX_BODY, bytes.length) + marks);
  }

  /** Removes an object for a client. @throws ApiError 404, 409 when it is not at the version of the preconditions */
  delete(_scope: Scope, key: ObjectKey, { preconditions }: Pick<DeleteOptions, "preconditions"> = {}): Encoded {
    const before = this.#current(key, preconditions?.resourceVersion);
    this.#cache.delete(key, processMinter.next());
    return before;
  }

  #current(key: ObjectKey, resourceVersion: string | undefined): Encoded {
    const before = this.#cache.get(key);
    if (before === undefined) throw ApiError.notFound(groupResourceOf(this.resource), key.name);
    if (resourceVersion !== undefined && resourceVersion !== before.resourceVersion)
      throw modified(this.resource, key.name);
    return before;
  }

  /** @param most how many bytes it may have: what is larger than a body could not be sent back */
  #keep(key: ObjectKey, object: KubeObject, most: number = Number.POSITIVE_INFINITY): Encoded {
    const { annotations } = object.metadata;
    const owner = key.cluster === "" ? {} : { annotations: { ...annotations, [CLUSTER_ANNOTATION]: key.cluster } };
    const metadata = { ...object.metadata, ...owner, resourceVersion: processMinter.next() };
    const encoded = encodeObject({ ...object, metadata }, key.cluster, this.resource.selectableFields);
    if (encoded.bytes.length > most)
      throw ApiError.requestEntityTooLarge(`the object would have ${encoded.bytes.length} bytes: limit is ${MAX_BODY}`);
    this.#cache.set(encoded);
    return encoded;
  }

  /** @internal */
  *all(part: Omit<ObjectKey, "name">): Generator<ObjectOf<T>> {
    for (const encoded of objectsIn(this.#cache.snapshot().objects, part)) {
      if (encoded.key.cluster === part.cluster) yield decodeObject<ObjectOf<T>>(encoded);
    }
  }

  /** What the author's own code changes is its own as well, once anybody's fields are. */
  #owned(next: ObjectOf<T>, before: ObjectOf<T> | undefined): ObjectOf<T> {
    if (before?.metadata.managedFields === undefined) return next;
    this.#owners ??= fieldOwners(this.resource);
    const subresource =
      isDeepStrictEqual(specOf(next), specOf(before)) && this.resource.subresources.status ? "status" : "";
    return this.#owners.update({ live: before, next, manager: AUTHOR, subresource, now: this.#now() }) as ObjectOf<T>;
  }

  #invalidName(name: string, problems: readonly string[]): ApiError {
    const { group, kind } = this.resource;
    const causes = problems.map((message) => ({
      reason: "FieldValueInvalid" as const,
      field: "metadata.name",
      message,
    }));
    return ApiError.invalid({ kind: { group, kind }, name, causes });
  }
}
