import { isDeepStrictEqual } from "node:util";
import {
  ApiError,
  CLUSTER_ANNOTATION,
  dnsLabelProblems,
  isClusterName,
  type KubeObject,
  nameProblems,
  type ObjectKey,
  type ObjectOf,
} from "@virtual-workspaces/apimachinery";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import { groupResourceOf, KindVersions, type TypedDefinition } from "../../definition.ts";
import type { DeleteOptions, Scope } from "../../storage.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { MAX_BODY } from "../../util/limits.ts";
import { decodeObject, type Encoded, keyIn } from "../../watch/cache/encoded.ts";
import { type Deletion, decideDeletion, isReleased } from "../../write/deletion.ts";
import { fieldOwners } from "../../write/field-owners.ts";
import { inCluster } from "../../write/own-annotations.ts";
import { modified } from "../../write/update.ts";
import type { FieldOwners } from "../../write/write-rules.ts";
import type { ObjectBackend } from "./cache-backend.ts";
import { type Answer, CollectionPart, type Timing } from "./collection-part.ts";
import { comparable, described, type ObjectDetails, specOf, stamped } from "./object-details.ts";

/** How a registry treats its objects. */
export interface RegistryOptions {
  /** Whether somebody collects what deletes leave behind, as in `Storage`. @default false */
  readonly garbageCollected?: boolean;
  /** The versions of the kind, as in `Storage`. @default none but its own yet: `converted()` adds them */
  readonly versions?: KindVersions;
  /** The time that becomes `metadata.creationTimestamp`. @default the clock */
  readonly now?: () => Date;
}

/** What being deleted may add to an object, bytes. */
const MARKS = 4096;

/** Whose the fields are that an author's code sets, in `managedFields`. */
const AUTHOR = "virtual-workspaces";

/**
 * Objects of one kind, over all logical clusters, as clients write them through the framework and authors by {@link in}.
 * Where they are is the keeper's: a collection keeps them in memory, a store on disk. It sets uid, generation and
 * creationTimestamp of what authors write; resource versions are the keeper's.
 */
export class Registry<T extends object, When extends Timing> {
  readonly resource: TypedDefinition<T>;
  readonly garbageCollected: boolean;
  readonly versions: KindVersions;
  readonly #keeper: ObjectBackend;
  readonly #when: When;
  readonly #now: () => Date;
  #owners: FieldOwners | undefined;

  constructor(
    resource: TypedDefinition<T>,
    options: RegistryOptions & { readonly keeper: ObjectBackend; readonly when: When },
  ) {
    this.resource = resource;
    this.versions = options.versions ?? new KindVersions(resource);
    this.garbageCollected = options.garbageCollected ?? false;
    this.#keeper = options.keeper;
    this.#when = options.when;
    this.#now = options.now ?? (() => new Date());
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
  in(cluster: string, namespace = ""): CollectionPart<T, When> {
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
    return new CollectionPart<T, When>(this, { cluster, namespace });
  }

  /** Keeps a new object of a client. Its framework asks; authors use {@link in}. @throws ApiError 409 when there is one, 413 above 3 MiB */
  create(scope: Scope, object: ObjectOf<T>): Answer<When, Encoded> {
    return this.#answer(this.#create(keyIn(scope, object.metadata), object));
  }

  /** Replaces an object for a client. @throws ApiError 404, 409 when it is not at the version that `object` has, 413 above 3 MiB */
  update(scope: Scope, object: ObjectOf<T>): Answer<When, Encoded> {
    return this.#answer(this.#update(keyIn(scope, object.metadata), object));
  }

  /** Removes an object for a client. @throws ApiError 404, 409 when it is not at the version of the preconditions */
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
    content: (before: ObjectOf<T> | undefined) => object,
  ): Answer<When, ObjectOf<T>> {
    return this.#answer(this.#write(key, details, content));
  }

  /** @internal */
  read(key: ObjectKey): Answer<When, ObjectOf<T> | undefined> {
    return this.#answer(this.#read(key));
  }

  /** @internal */
  remove(key: ObjectKey, options: Pick<DeleteQuery, "gracePeriodSeconds">): Answer<When, boolean> {
    return this.#answer(this.#remove(key, options));
  }

  /** @internal */
  all(part: Omit<ObjectKey, "name">): Answer<When, ObjectOf<T>[]> {
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
    // What is too large already must not grow, but go it may.
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

  /** Who named no version is content with any there is. */
  #refuseStale(key: ObjectKey, current: Encoded | undefined, resourceVersion: string | undefined): void {
    if (current === undefined) throw ApiError.notFound(groupResourceOf(this.resource), key.name);
    if (resourceVersion !== undefined) throw modified(this.resource, key.name);
  }

  *#write(
    key: ObjectKey,
    details: ObjectDetails,
    content: (before: ObjectOf<T> | undefined) => object,
  ): Steps<ObjectOf<T>> {
    const problems = nameProblems(key.name);
    if (problems.length > 0) throw this.#invalidName(key.name, problems);
    for (;;) {
      const before = yield* this.#read(key);
      const next = { ...described(key.cluster, details, before?.metadata), content: content(before) };
      if (before !== undefined && isDeepStrictEqual(next, comparable(before))) return before;
      const minted = { key, definition: this.resource, now: this.#now() };
      const object = this.#ownedByAuthor(stamped(next, before, minted) as ObjectOf<T>, before);
      const gone = before !== undefined && isReleased(object, before);
      const swapped = yield* ask(this.#keeper.swap(key, gone ? undefined : object, unlimited(before)));
      if (swapped.kind !== "done") continue;
      object.metadata.resourceVersion = swapped.version;
      return object;
    }
  }

  *#read(key: ObjectKey): Steps<ObjectOf<T> | undefined> {
    const encoded = yield* ask(this.#keeper.get(key));
    return encoded === undefined ? undefined : decodeObject<ObjectOf<T>>(encoded);
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

  /** What cannot be read holds nobody up. */
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

  *#all(part: Omit<ObjectKey, "name">): Steps<ObjectOf<T>[]> {
    return Array.from(yield* ask(this.#keeper.all(part)), (encoded) => decodeObject<ObjectOf<T>>(encoded));
  }

  /** The one place where the two timings meet: a keeper that answers at once makes `run` do so. */
  #answer<R>(steps: Steps<R>): Answer<When, R> {
    return (this.#when === "now" ? run(steps) : later(steps)) as Answer<When, R>;
  }

  /** What the author's own code changes is its own as well, once anybody's fields are. */
  #ownedByAuthor(next: ObjectOf<T>, before: ObjectOf<T> | undefined): ObjectOf<T> {
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

async function later<R>(steps: Steps<R>): Promise<R> {
  return run(steps);
}

function unlimited(before: KubeObject | undefined): { readonly version: string; readonly most: number } {
  return { version: before?.metadata.resourceVersion ?? "", most: Number.POSITIVE_INFINITY };
}

function tooLarge(length: number): ApiError {
  return ApiError.requestEntityTooLarge(`the object would have ${length} bytes: limit is ${MAX_BODY}`);
}

/** Work that waits only for answers which are promises: where all come at once, so does its result. */
type Steps<R> = Generator<unknown, R, unknown>;

/** The answer, when it is there: `const it = yield* ask(storage.get(key))`. */
function* ask<A>(answer: Awaitable<A>): Steps<A> {
  return (yield answer) as A;
}

/** Does the work, at once as far as it can. */
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
