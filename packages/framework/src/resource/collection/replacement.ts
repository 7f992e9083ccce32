import { randomUUID } from "node:crypto";
import {
  ApiError,
  apiVersionOf,
  CLUSTER_ANNOTATION,
  fieldDuplicate,
  fieldInvalid,
  formatTime,
  isApiError,
  isClusterName,
  type KubeObject,
  normalizeMetadata,
  type ObjectKey,
  type ObjectMeta,
  type StatusCause,
  type StoredObject,
} from "@virtual-workspaces/apimachinery";
import { equalJson, parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { KindVersions, TypedDefinition } from "../../definition.ts";
import { decodeObject, type Encoded } from "../../watch/cache/encoded.ts";
import { cacheKey } from "../../watch/cache/watch-cache.ts";
import { metadataProblems } from "../../write/create.ts";
import { decideDeletion, isReleased } from "../../write/deletion.ts";
import { kindRules } from "../../write/kind.ts";
import { inCluster } from "../../write/own-annotations.ts";
import type { KindRules } from "../../write/write-rules.ts";
import type { AuthorFields } from "./author-fields.ts";
import { specOf } from "./object-details.ts";

/**
 * Object as a source outside of the collection has it: its name, and its content.
 *
 * @typeParam T fields of an object besides `apiVersion`, `kind` and `metadata`
 */
export type SourceObject<T extends object = object> = T & {
  /** Version of the kind. @default the collection's, and no other */
  readonly apiVersion?: string;
  /** Kind. @default the collection's, and no other */
  readonly kind?: string;
  /** Metadata. `resourceVersion` is ignored. */
  readonly metadata: ObjectMeta & { readonly name: string };
};

/** Part of a collection. Cluster `*`: all logical clusters. Namespace "": all namespaces. */
export type ReplacedPart = Omit<ObjectKey, "name">;

/** Change of one object: its next state, or `undefined` for none. */
export interface PlannedChange {
  readonly key: ObjectKey;
  readonly object: KubeObject | undefined;
}

/** Inputs of a plan besides the objects. */
export interface ReplacedState {
  readonly part: ReplacedPart;
  /** Present objects of the part. */
  readonly current: Iterable<Encoded>;
  /** Object that a client has just written at the source. Its metadata stay, not those of the present object. @default none */
  readonly written?: WrittenObject | undefined;
}

/** Object as the framework has prepared it for a source. */
export interface WrittenObject {
  readonly key: ObjectKey;
  readonly object: KubeObject;
}

interface ReplacementSubject<T extends object> {
  readonly resource: TypedDefinition<T>;
  readonly versions: KindVersions;
  readonly fields: AuthorFields<T>;
  readonly now: () => Date;
}

/** Plans the changes that make a part of a collection hold given objects. Checks all of these first. */
export class Replacement<T extends object> {
  readonly #subject: ReplacementSubject<T>;
  #rules: KindRules | undefined;

  constructor(subject: ReplacementSubject<T>) {
    this.#subject = subject;
  }

  /**
   * Returns the changes: removals first, then the others in the order of the objects.
   *
   * @returns also the keys of the given objects, as {@link cacheKey}
   * @throws ApiError 422 for the first bad object
   */
  plan(
    objects: Iterable<SourceObject<T>>,
    { part, current, written }: ReplacedState,
  ): { readonly changes: readonly PlannedChange[]; readonly given: ReadonlySet<string> } {
    const before = new Map(Array.from(current, (object) => [cacheKey(object.key), object]));
    const writtenKey = written && cacheKey(written.key);
    const given = new Set<string>();
    const changes: PlannedChange[] = [];
    let at = 0;
    for (const object of objects) {
      const { key, plain } = this.#read(object, part, at++);
      const text = cacheKey(key);
      if (given.has(text)) throw this.#invalid(key.name, [fieldDuplicate("metadata.name", key.name)]);
      given.add(text);
      const prepared = text === writtenKey ? written?.object : undefined;
      changes.push(...this.#changes(key, plain, { there: before.get(text), prepared }));
    }
    const gone = [...before].filter(([text]) => !given.has(text));
    return { changes: [...gone.flatMap(([, object]) => this.#removal(object)), ...changes], given };
  }

  /** Reads an object of the source as plain JSON. */
  #read(object: SourceObject<T>, part: ReplacedPart, at: number): { readonly key: ObjectKey; readonly plain: Plain } {
    const { resource } = this.#subject;
    let name = `objects[${at}]`;
    try {
      const plain = parseOwnJson(stringifyJson(object)) as Plain;
      if (typeof plain !== "object" || plain === null || Array.isArray(plain)) throw new Error("must be an object");
      if (typeof plain.metadata?.name === "string" && plain.metadata.name !== "") name = plain.metadata.name;
      const freed = Array.isArray(plain.metadata?.finalizers) && plain.metadata.finalizers.length === 0;
      normalizeMetadata(plain as Parameters<typeof normalizeMetadata>[0]);
      // An empty list removes the finalizers, a missing one keeps them.
      if (freed) plain.metadata.finalizers = [];
      const expected = { apiVersion: apiVersionOf(resource), kind: resource.kind };
      for (const field of ["apiVersion", "kind"] as const) {
        const found = plain[field];
        if (found !== undefined && found !== expected[field])
          throw this.#invalid(name, [fieldInvalid(field, found, `must be ${expected[field]}`)]);
      }
      Object.assign(plain, expected);
      return { key: this.#keyOf(plain, part, name), plain };
    } catch (error) {
      if (isApiError(error) && error.code === 422) throw error;
      const { message } = error as Error;
      throw this.#invalid(name, [{ reason: "FieldValueInvalid", field: "", message }]);
    }
  }

  #keyOf({ metadata }: Plain, part: ReplacedPart, name: string): ObjectKey {
    const { namespace = part.namespace } = metadata;
    if (part.namespace !== "" && namespace !== part.namespace)
      throw this.#invalid(name, [fieldInvalid("metadata.namespace", namespace, `must be ${part.namespace}`)]);
    if (namespace !== "") metadata.namespace = namespace;
    if (part.cluster !== "*") return { ...part, namespace, name };
    const cluster = metadata.annotations?.[CLUSTER_ANNOTATION] ?? "";
    if (isClusterName(cluster)) return { cluster, namespace, name };
    const field = `metadata.annotations[${CLUSTER_ANNOTATION}]`;
    throw this.#invalid(name, [fieldInvalid(field, cluster, "must be the name of the object's logical cluster")]);
  }

  /** Returns the changes from the present object to the next: none, one, or two if another object has taken the name. */
  #changes(
    key: ObjectKey,
    plain: Plain,
    { there, prepared }: { readonly there: Encoded | undefined; readonly prepared: KubeObject | undefined },
  ): PlannedChange[] {
    const { uid } = plain.metadata;
    if (there !== undefined && uid !== undefined && uid !== there.uid)
      return [{ key, object: undefined }, ...this.#changes(key, plain, { there: undefined, prepared: undefined })];
    const present = there && withoutVersion(decodeObject(there));
    const before = prepared === undefined ? present : withoutVersion(prepared);
    const next = this.#checked(key.name, this.#next(key, plain, before), present);
    const object =
      before === undefined || equalJson(next, before)
        ? next
        : this.#subject.fields.own(next as StoredObject<T>, before as StoredObject<T>, this.#subject.now());
    if (present !== undefined && equalJson(object, present)) return [];
    return [{ key, object: present !== undefined && isReleased(object, present) ? undefined : object }];
  }

  /** Returns the next state: what the source has, and what the collection keeps for it. */
  #next(key: ObjectKey, plain: Plain, before: KubeObject | undefined): KubeObject {
    this.#rules ??= kindRules(this.#subject.resource, this.#subject.versions);
    const { apiVersion, kind, metadata, ...content } = inCluster(plain, key.cluster);
    if (before?.["status"] !== undefined && content["status"] === undefined) content["status"] = before["status"];
    const next: KubeObject = { apiVersion, kind, metadata: {}, ...content };
    this.#rules.prune(next);
    this.#rules.fillDefaults(next);
    const respecified = before === undefined || !equalJson(specOf(next) as object, specOf(before) as object);
    next.metadata = merged(metadata, before?.metadata, { respecified, now: this.#subject.now() });
    return next;
  }

  /** @throws ApiError 422 on an object that breaks a rule. One that has not changed was checked before. */
  #checked(name: string, next: KubeObject, present: KubeObject | undefined): KubeObject {
    if (present !== undefined && equalJson(next, present)) return next;
    const metadata = metadataProblems(next, undefined, this.#subject.resource);
    // Rules that need a worker thread would make the reader wait; these are left to the writes of clients.
    const terms = { before: undefined, part: "", metadata, request: { signal: AbortSignal.abort() } } as const;
    const found = this.#rules?.problems(next, terms) ?? [];
    if (found instanceof Promise) found.catch(() => undefined);
    const causes = [...metadata, ...(found instanceof Promise ? [] : found)];
    if (causes.length > 0) throw this.#invalid(name, causes);
    return next;
  }

  /** Removes an object that the source no longer has, or marks it while finalizers hold it. */
  #removal(there: Encoded): PlannedChange[] {
    const before = decodeObject(there);
    const { gracePeriodSeconds } = this.#subject.resource;
    const rules = { now: this.#subject.now(), garbageCollected: false, gracePeriodSeconds };
    const deletion = decideDeletion(before, { dryRun: false, gracePeriodSeconds: 0 }, rules);
    if (deletion.kind !== "mark") return deletion.kind === "remove" ? [{ key: there.key, object: undefined }] : [];
    return equalJson(deletion.object, before) ? [] : [{ key: there.key, object: withoutVersion(deletion.object) }];
  }

  #invalid(name: string, causes: readonly StatusCause[]): ApiError {
    return ApiError.invalid({ kind: this.#subject.resource, name, causes });
  }
}

/** Object of a source, as plain JSON. */
type Plain = KubeObject & { metadata: ObjectMeta };

/** Returns what the source gives, and what the collection keeps besides. */
function merged(
  given: ObjectMeta,
  kept: ObjectMeta | undefined,
  { respecified, now }: { readonly respecified: boolean; readonly now: Date },
): ObjectMeta {
  const { resourceVersion: _version, generateName: _prefix, ...source } = given;
  const identity = { uid: randomUUID(), creationTimestamp: source.creationTimestamp ?? formatTime(now) };
  const { labels: _labels, annotations: _annotations, ...own } = kept ?? (identity as ObjectMeta);
  const generation = Math.max((own.generation ?? 0) + (respecified ? 1 : 0), source.generation ?? 0);
  const metadata = { ...own, ...source, generation };
  // The source's are for objects that the collection does not know yet.
  if (own.creationTimestamp !== undefined) metadata.creationTimestamp = own.creationTimestamp;
  if (own.managedFields !== undefined) metadata.managedFields = own.managedFields;
  if (metadata.finalizers?.length === 0) delete metadata.finalizers;
  return metadata;
}

function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
