import { isDeepStrictEqual } from "node:util";
import {
  ApiError,
  CLUSTER_ANNOTATION,
  dnsLabelProblems,
  isClusterName,
  type KubeObject,
  type ObjectKey,
  type ObjectOf,
  type StoredObject,
} from "@virtual-workspaces/apimachinery";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import { groupResourceOf, KindVersions, type TypedDefinition } from "../../definition.ts";
import type { DeleteOptions, Scope } from "../../storage.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { MAX_BODY } from "../../util/limits.ts";
import { decodeObject, type Encoded, keyIn } from "../../watch/cache/encoded.ts";
import { metadataProblems } from "../../write/create.ts";
import { type Deletion, decideDeletion, isReleased } from "../../write/deletion.ts";
import { inCluster } from "../../write/own-annotations.ts";
import { modified } from "../../write/update.ts";
import { AuthorFields } from "./author-fields.ts";
import type { ObjectBackend } from "./cache-backend.ts";
import { type Answer, CollectionPart, type Timing } from "./collection-part.ts";
import { comparable, described, type ObjectDetails, stamped } from "./object-details.ts";

/** Options of a registry. */
export interface RegistryOptions {
  /** Whether a garbage collector removes dependents after deletes, as in `Storage`. @default false */
  readonly garbageCollected?: boolean;
  /** The versions of the kind, as in `Storage`. @default its own alone: `converted()` adds others */
  readonly versions?: KindVersions;
  /** Time that becomes `metadata.creationTimestamp`. @default the clock */
  readonly now?: () => Date;
}

/** Bytes that the marks of a deletion may add to an object. */
export const MARKS = 4096;

/**
 * Objects of one kind in all logical clusters: clients write them through the framework, the author's code by {@link in}. The
 * backend holds them (a collection's in memory, a store's on disk) and assigns their resource versions. The registry sets
 * uid, generation and creationTimestamp of the objects that authors write.
 */
export class Registry<T extends object, When extends Timing> {
  readonly resource: TypedDefinition<T>;
  /** Reads and writes need no signal, which costs a tenth of a small write. */
  readonly keepsOptions = true;
  readonly garbageCollected: boolean;
  readonly versions: KindVersions;
  readonly #keeper: ObjectBackend;
  readonly #when: When;
  readonly #now: () => Date;
  readonly #fields: AuthorFields<T>;

  constructor(
    resource: TypedDefinition<T>,
    options: RegistryOptions & { readonly keeper: ObjectBackend; readonly when: When },
  ) {
    this.resource = resource;
    this.#fields = new AuthorFields(resource);
    this.versions = options.versions ?? new KindVersions(resource);
    this.garbageCollected = options.garbageCollected ?? false;
    this.#keeper = options.keeper;
    this.#when = options.when;
    this.#now = options.now ?? (() => new Date());
  }

  /** Keeps clients from changing the logical cluster of an object. */
  ownAnnotations(key: string): boolean {
    return key === CLUSTER_ANNOTATION;
  }

  /** All callers share a stream, since they see the same objects. */
  shareKey(): string {
    return "";
  }

  /**
   * Returns the objects of one logical cluster ("" where the path has none) and, for namespaced kinds, one namespace.
   *
   * @throws ApiError 400 on a malformed name, and on a namespace that is missing or given against the kind's scope
   */
  in(cluster: string, namespace = ""): CollectionPart<T, When> {
    return new CollectionPart<T, When>(this, this.partOf(cluster, namespace));
  }

  /** @internal */
  partOf(cluster: string, namespace: string): Omit<ObjectKey, "name"> {
    const namespaced = this.resource.scope === "Namespaced";
    if (cluster !== "" && !isClusterName(cluster))
      throw ApiError.badRequest(`${JSON.stringify(cluster)} is not a logical cluster name`);
    if (namespaced !== (namespace !== "")) {
      const remedy = namespaced ? "name a namespace as the second argument" : "leave the namespace out";
      throw ApiError.badRequest(`${this.resource.kind} is ${namespaced ? "" : "not "}namespaced: ${remedy}`);
    }
    const problems = namespaced ? dnsLabelProblems(namespace) : [];
    if (problems.length > 0)
      throw ApiError.badRequest(`invalid namespace ${JSON.stringify(namespace)}: ${problems.join(", ")}`);
    return { cluster, namespace };
  }

  /** Creates an object for a client. For the framework; authors use {@link in}. @throws ApiError 409 when it exists, 413 above 3 MiB */
  create(scope: Scope, object: ObjectOf<T>): Answer<When, Encoded> {
    return this.#answer(this.#create(keyIn(scope, object.metadata), object));
  }

  /** Replaces an object for a client. @throws ApiError 404, 409 when the version in `object` is not the current one, 413 above 3 MiB */
  update(scope: Scope, object: ObjectOf<T>): Answer<When, Encoded> {
    return this.#answer(this.#update(keyIn(scope, object.metadata), object));
  }

  /** Removes an object for a client. @throws ApiError 404, 409 when the preconditions name another version */
  delete(
    _scope: Scope,
    key: ObjectKey,
    { preconditions }: Pick<DeleteOptions, "preconditions"> = {},
  ): Answer<When, Encoded> {
    return this.#answer(this.#delete(key, preconditions?.resourceVersion));
  }

  /** @internal */
  write(
    key: ObjectKey,
    details: ObjectDetails,
    content: (before: StoredObject<T> | undefined) => object,
  ): Answer<When, StoredObject<T>> {
    return this.#answer(this.#write(key, details, content));
  }

  /** @internal */
  read(key: ObjectKey): Answer<When, StoredObject<T> | undefined> {
    return this.#answer(this.#read(key));
  }

  /** @internal */
  remove(key: ObjectKey, options: Pick<DeleteQuery, "gracePeriodSeconds">): Answer<When, boolean> {
    return this.#answer(this.#remove(key, options));
  }

  /** @internal */
  all(part: Omit<ObjectKey, "name">): Answer<When, StoredObject<T>[]> {
    return this.#answer(this.#all(part));
  }

  *#create(key: ObjectKey, object: KubeObject): Steps<Encoded> {
    const swapped = yield* ask(this.#keeper.swap(key, inCluster(object, key.cluster), { version: "", most: MAX_BODY }));
    if (swapped.kind === "stale") throw ApiError.alreadyExists(groupResourceOf(this.resource), key.name);
    if (swapped.kind === "large") throw tooLarge(swapped.length);
    return swapped.object as Encoded;
  }

  *#update(key: ObjectKey, object: KubeObject): Steps<Encoded> {
    const { resourceVersion, deletionTimestamp } = object.metadata;
    // An object above the limit must not grow, but it can still be marked as being deleted.
    const marks = deletionTimestamp === undefined ? 0 : MARKS;
    for (let most = MAX_BODY + marks; ; ) {
      const version = resourceVersion ?? (yield* this.#current(key)).resourceVersion;
      const swapped = yield* ask(this.#keeper.swap(key, inCluster(object, key.cluster), { version, most }));
      if (swapped.kind === "done") return swapped.object as Encoded;
      if (swapped.kind === "stale") this.#refuseStale(key, swapped.current, resourceVersion);
      else {
        most = (yield* this.#current(key, resourceVersion)).bytes.length + marks;
        if (swapped.length > most) throw tooLarge(swapped.length);
      }
    }
  }

  *#delete(key: ObjectKey, resourceVersion: string | undefined): Steps<Encoded> {
    for (;;) {
      const before = yield* this.#current(key, resourceVersion);
      const terms = { version: before.resourceVersion, most: 0 };
      const swapped = yield* ask(this.#keeper.swap(key, undefined, terms));
      if (swapped.kind === "done") return before;
      if (swapped.kind === "stale") this.#refuseStale(key, swapped.current, resourceVersion);
    }
  }

  *#current(key: ObjectKey, resourceVersion?: string): Steps<Encoded> {
    const current = yield* ask(this.#keeper.get(key));
    if (current === undefined || (resourceVersion !== undefined && resourceVersion !== current.resourceVersion))
      this.#refuseStale(key, current, resourceVersion ?? "");
    return current as Encoded;
  }

  /** A write without a version accepts any current version. */
  #refuseStale(key: ObjectKey, current: Encoded | undefined, resourceVersion: string | undefined): void {
    if (current === undefined) throw ApiError.notFound(groupResourceOf(this.resource), key.name);
    if (resourceVersion !== undefined) throw modified(this.resource, key.name);
  }

  *#write(
    key: ObjectKey,
    details: ObjectDetails,
    content: (before: StoredObject<T> | undefined) => object,
  ): Steps<StoredObject<T>> {
    this.#checkName(key);
    for (;;) {
      const before = yield* this.#read(key);
      const next = { ...described(key.cluster, details, before?.metadata), content: content(before) };
      if (before !== undefined && isDeepStrictEqual(next, comparable(before))) return before;
      const minted = { key, definition: this.resource, now: this.#now() };
      const object = this.#fields.own(stamped(next, before, minted) as StoredObject<T>, before, minted.now);
      const gone = before !== undefined && isReleased(object, before);
      const swapped = yield* ask(this.#keeper.swap(key, gone ? undefined : object, unlimited(before)));
      if (swapped.kind !== "done") continue;
      object.metadata.resourceVersion = swapped.version;
      return object;
    }
  }

  *#read(key: ObjectKey): Steps<StoredObject<T> | undefined> {
    const encoded = yield* ask(this.#keeper.get(key));
    return encoded === undefined ? undefined : decodeObject<StoredObject<T>>(encoded);
  }

  *#remove(key: ObjectKey, options: Pick<DeleteQuery, "gracePeriodSeconds">): Steps<boolean> {
    for (;;) {
      const there = yield* ask(this.#keeper.get(key));
      if (there === undefined) return false;
      const deletion = this.#deletionOf(there, options);
      if (deletion.kind === "pending") return true;
      const next = deletion.kind === "mark" ? inCluster(deletion.object, key.cluster) : undefined;
      const terms = { version: there.resourceVersion, most: Number.POSITIVE_INFINITY };
      if ((yield* ask(this.#keeper.swap(key, next, terms))).kind === "done") return true;
    }
  }

  /** Removes an object that cannot be decoded at once: nothing can release its finalizers. */
  #deletionOf(there: Encoded, options: Pick<DeleteQuery, "gracePeriodSeconds">): Deletion {
    const { gracePeriodSeconds } = this.resource;
    let before: KubeObject;
    try {
      before = decodeObject(there);
    } catch {
      return { kind: "remove" };
    }
    const rules = { now: this.#now(), garbageCollected: false, gracePeriodSeconds };
    return decideDeletion(before, { dryRun: false, ...options }, rules);
  }

  *#all(part: Omit<ObjectKey, "name">): Steps<StoredObject<T>[]> {
    return Array.from(yield* ask(this.#keeper.all(part)), (encoded) => decodeObject<StoredObject<T>>(encoded));
  }

  /** Runs steps with the registry's timing. With a backend that answers at once, `run` returns at once. */
  #answer<R>(steps: Steps<R>): Answer<When, R> {
    return (this.#when === "now" ? run(steps) : later(steps)) as Answer<When, R>;
  }

  /** @throws ApiError 422 with the words of the writes of clients, and of `replace` */
  #checkName({ name, namespace }: ObjectKey): void {
    const metadata = namespace === "" ? { name } : { name, namespace };
    const causes = metadataProblems({ ...NO_TYPE, metadata }, undefined, this.resource);
    if (causes.length > 0) throw ApiError.invalid({ kind: this.resource, name, causes });
  }
}

const NO_TYPE = { apiVersion: "", kind: "" } as const;

async function later<R>(steps: Steps<R>): Promise<R> {
  return run(steps);
}

function unlimited(before: KubeObject | undefined): { readonly version: string; readonly most: number } {
  return { version: before?.metadata.resourceVersion ?? "", most: Number.POSITIVE_INFINITY };
}

/** Returns the error of an object above the limit. */
export function tooLarge(length: number): ApiError {
  return ApiError.requestEntityTooLarge(`the object would have ${length} bytes: limit is ${MAX_BODY}`);
}

/** Steps that wait only for promises: when no step yields one, the result is available at once. */
type Steps<R> = Generator<unknown, R, unknown>;

/** Yields until the answer is available: `const it = yield* ask(storage.get(key))`. */
function* ask<A>(answer: Awaitable<A>): Steps<A> {
  return (yield answer) as A;
}

/** Runs the steps, synchronously until the first promise. */
function run<R>(steps: Steps<R>): Awaitable<R> {
  let step = steps.next();
  while (!step.done) {
    if (step.value instanceof Promise) return finish(steps, step.value);
    step = steps.next(step.value);
  }
  return step.value;
}

async function finish<R>(steps: Steps<R>, pending: unknown): Promise<R> {
  let step: IteratorResult<unknown, R> = { done: false, value: pending };
  while (!step.done) step = await answered(steps, step.value);
  return step.value;
}

async function answered<R>(steps: Steps<R>, pending: unknown): Promise<IteratorResult<unknown, R>> {
  let answer: unknown;
  try {
    answer = await pending;
  } catch (error) {
    return steps.throw(error);
  }
  return steps.next(answer);
}
