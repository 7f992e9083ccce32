import {
  ApiError,
  finalizerWarnings,
  isApiError,
  type KubeObject,
  type ObjectKey,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { keepManagedFieldsTimes } from "@virtual-workspaces/apimachinery/apply";
import { cloneJson, equalJson } from "@virtual-workspaces/apimachinery/json";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import type { ResourceDefinition } from "../definition.ts";
import type { Storage, Written } from "../storage.ts";
import type { Encoded } from "../watch/cache/encoded.ts";
import { type Basis, createConflict, untilUndisturbed } from "./conflicts.ts";
import { metadataProblems, prepareCreate, taken, wipeSystemFields } from "./create.ts";
import { decideDeletion, isReleased } from "./deletion.ts";
import { checkReadable } from "./identity.ts";
import { kindRules } from "./kind.ts";
import { keepOwnAnnotations, withoutOwn, withoutOwners } from "./own-annotations.ts";
import { checkUid, checkVersion, prepareUpdate, resetOtherParts, withReplicasOf } from "./update.ts";
import { type Deleted, type StoredValue, WriteCommit } from "./write-commit.ts";
import {
  type AdmitCheck,
  type AdmitRequest,
  type Change,
  type Draft,
  settling,
  type WriteRequest,
} from "./write-request.ts";
import type { KindRules } from "./write-rules.ts";

/** Objects of one kind, and the storage that keeps them. */
export interface WriterSubject {
  readonly definition: ResourceDefinition;
  readonly storage: Storage;
  /** Rules of the kind. @default those of the definition's schema */
  readonly rules?: KindRules;
  /** Current time. @default the clock */
  readonly now?: () => Date;
}

/** Object after admission, and the checks to run once it is valid. */
interface Admitted {
  readonly object: KubeObject;
  readonly validate: AdmitCheck;
}

/** Maximum number of attempts to generate a free name. */
const NAMES = 8;

/**
 * Kubernetes' registry, for storages that only store objects. It sets metadata, prunes, sets defaults, calls admission,
 * validates, tracks owners of fields, retries after races, and removes objects when nothing blocks the removal.
 */
export class Writer {
  readonly rules: KindRules;
  readonly #definition: ResourceDefinition;
  readonly #storage: Storage;
  readonly #now: () => Date;
  readonly #keeping: WriteCommit;

  constructor({ definition, storage, rules, now = () => new Date() }: WriterSubject) {
    this.#definition = definition;
    this.#storage = storage;
    const ofKind = rules ?? kindRules(definition, storage.versions);
    this.rules = storage.ownAnnotations === undefined ? ofKind : withoutOwners(ofKind, this.#isOwn);
    this.#now = now;
    this.#keeping = new WriteCommit({ definition, storage, rules: this.rules });
  }

  /** @throws ApiError 409 when the name is taken, 422 on an invalid object, and errors of admission */
  async create(object: KubeObject, request: WriteRequest): Promise<KubeObject | Encoded> {
    if (isVersion(object.metadata.resourceVersion))
      throw ApiError.badRequest("resourceVersion should not be set on objects to be created");
    wipeSystemFields(object);
    this.conform(object, request);
    return settling(request, (settled) => this.#create(this.#owned(object, undefined, settled), settled));
  }

  /** @throws ApiError 404, 409 when the version is not the current one, 422 on an invalid object, and errors of admission */
  async update(key: ObjectKey, change: Change, asked: WriteRequest): Promise<Written> {
    return settling(asked, (request) =>
      untilUndisturbed(request.options, (basis) => this.#update(key, { change, basis }, request)),
    );
  }

  /** @throws ApiError 404, 409 when the preconditions do not hold, and errors of admission */
  async delete(key: ObjectKey, query: DeleteQuery, asked: WriteRequest): Promise<Deleted> {
    return settling(asked, (request) =>
      untilUndisturbed(request.options, (basis) => this.#delete(key, { query, basis }, request)),
    );
  }

  /** Reads the object of an attempt. The reads of a storage with a lifecycle of its own may be older than its source. */
  async #read(key: ObjectKey, basis: Basis, request: WriteRequest): Promise<StoredValue | undefined> {
    const kept = await this.#keeping.read(key, request);
    if (this.#storage.lifecycle !== "storage") basis.take(kept);
    return kept;
  }

  async #update(
    key: ObjectKey,
    { change, basis }: { readonly change: Change; readonly basis: Basis },
    request: WriteRequest,
  ): Promise<Written> {
    const kept = await this.#read(key, basis, request);
    if (kept === undefined && request.mayCreate === undefined) throw this.#keeping.notFound(key);
    const draft = await change(() => kept?.copy());
    if (kept !== undefined) return { object: await this.#replace(kept, draft, request) };
    if (draft.by === "replacing" && isVersion(draft.object.metadata.resourceVersion)) throw this.#keeping.notFound(key);
    await request.mayCreate?.();
    checkUid(draft.object, undefined, this.#definition);
    this.#settle(draft, request);
    const next = draft.by === "replacing" ? this.#owned(draft.object, undefined, request) : draft.object;
    try {
      return { object: await this.#create(next, request), created: true };
    } catch (error) {
      // Another write has created the object since the read: retry as a change. One that reads do not find blocks the name.
      const isTaken = isApiError(error) && error.reason === "AlreadyExists";
      throw isTaken && (await this.#keeping.read(key, request)) !== undefined ? createConflict(error) : error;
    }
  }

  async #create(object: KubeObject, request: WriteRequest): Promise<KubeObject | Encoded> {
    keepOwnAnnotations(object, undefined, this.#isOwn);
    const { object: admitted, validate } = await this.#admit("CREATE", { object, oldObject: undefined }, request);
    const generated = admitted.metadata.name === undefined && this.#storage.lifecycle !== "storage";
    for (let attempt = 1; ; attempt++) {
      const next = { ...admitted, metadata: { ...admitted.metadata } };
      if (this.#storage.lifecycle !== "storage") prepareCreate(next, this.#definition, this.#now());
      await this.#check(next, { isWhole: true }, request);
      await validate(next);
      try {
        return await this.#keeping.add(next, request);
      } catch (error) {
        // A storage with a lifecycle of its own knows best what takes its names.
        if (!isApiError(error) || error.reason !== "AlreadyExists" || this.#storage.lifecycle === "storage")
          throw error;
        if (!generated || attempt === NAMES) throw await this.#taken(next, error, request);
      }
    }
  }

  async #delete(
    key: ObjectKey,
    { query: requested, basis }: { readonly query: DeleteQuery; readonly basis: Basis },
    request: WriteRequest,
  ): Promise<Deleted> {
    const kept = await this.#read(key, basis, request);
    if (kept === undefined) throw this.#keeping.notFound(key);
    const before = kept.object;
    const query = this.#asSeen(requested, before, request);
    checkPreconditions(before, query, this.#definition);
    const shown = shownToHook(kept, request);
    const { validate } = await this.#admit("DELETE", { object: undefined, oldObject: shown, deletion: query }, request);
    await validate(shown);
    if (this.#storage.lifecycle === "storage") return this.#keeping.passDelete(key, { before, query }, request);
    const deletion = decideDeletion(before, query, {
      now: this.#now(),
      garbageCollected: this.#storage.garbageCollected === true,
      gracePeriodSeconds: this.#definition.gracePeriodSeconds,
      strategy: this.#definition.strategy,
    });
    if (deletion.kind === "pending") return { object: kept.stored, gone: false };
    if (deletion.kind === "remove") return this.#keeping.remove(before, request);
    const marked = equalJson(deletion.object, before)
      ? kept.stored
      : await this.#keeping.keep(deletion.object, request);
    return { object: marked, gone: false };
  }

  async #replace(kept: StoredValue, draft: Draft, request: WriteRequest): Promise<KubeObject | Encoded> {
    const { object } = draft;
    const before = kept.object;
    if (draft.by === "replacing") checkUid(object, before, this.#definition);
    this.#recognize(draft, before, request);
    checkVersion(object, before, this.#definition);
    this.#settle(draft, request);
    const rules = { part: request.part, whole: request.whole, definition: this.#definition };
    const shown = shownToHook(kept, request);
    resetOtherParts(object, shown, rules);
    const owned = draft.by === "applying" ? object : this.#owned(object, shown, request);
    const { object: next, validate } = await this.#admit("UPDATE", { object: owned, oldObject: shown }, request);
    resetOtherParts(next, before, rules);
    if (this.#storage.lifecycle !== "storage") prepareUpdate(next, before, rules);
    const isSame = next.metadata.generation === before.metadata.generation;
    const changesNothing = isSame && equalJson(keepManagedFieldsTimes(next, before), before);
    if (!changesNothing) await this.#check(next, { before, isWhole: draft.by === "replacing" }, request);
    await validate(next);
    if (changesNothing) return kept.stored;
    if (this.#storage.lifecycle === "storage" || !isReleased(next, before, this.#definition))
      return this.#keeping.keep(next, request);
    const { object: left, gone } = await this.#keeping.remove(before, request);
    return gone ? next : left;
  }

  /** Makes a client's object conform to the kind, in place: without unknown fields, with defaults. */
  conform(object: KubeObject, request: WriteRequest): void {
    const unknown = this.rules.prune(object);
    request.unknown?.(unknown);
    this.rules.fillDefaults(object);
  }

  /** Makes a draft conform. An apply has rejected unknown fields, except below fields that preserve them. */
  #settle({ object, by }: Draft, request: WriteRequest): void {
    if (by === "changing") this.conform(object, request);
    if (by !== "applying") return;
    request.unknown?.([]);
    this.rules.pruneUnknown(object);
    this.rules.fillDefaults(object);
  }

  async #taken({ metadata }: KubeObject, error: ApiError, request: WriteRequest): Promise<ApiError> {
    const { name = "", namespace = "" } = metadata;
    const there = await this.#keeping.read({ cluster: request.scope.cluster, namespace, name }, request);
    return taken(error, there?.object);
  }

  #owned(next: KubeObject, live: KubeObject | undefined, { options, part }: WriteRequest): KubeObject {
    const { fieldManager: manager } = options;
    return this.rules.fields.update({ live, next, manager, subresource: part, now: this.#now() });
  }

  async #admit(
    operation: AdmitRequest["operation"],
    { object: sent, oldObject, deletion }: Pick<AdmitRequest, "object" | "oldObject"> & Partial<AdmitRequest>,
    request: WriteRequest,
  ): Promise<Admitted> {
    const { admit, options, part, scope, settled = Promise.resolve() } = request;
    if (admit === undefined) return { object: (sent ?? oldObject) as KubeObject, validate: () => undefined };
    const checks: AdmitCheck[] = [];
    const validate = (check: AdmitCheck): void => void checks.push(check);
    const { user, dryRun, signal, warn, audit, fieldManager } = options;
    const { versions } = this.#storage;
    const conform = (object: KubeObject): void => this.conform(object, { ...request, unknown: () => undefined });
    const drafted = part === "scale" ? cloneJson(sent as KubeObject) : undefined;
    const about = { operation, definition: this.#definition, object: sent, oldObject, deletion, subresource: part };
    const by = { user, params: scope.params, dryRun, fieldManager, signal, settled };
    const changed = await admit({ ...about, ...by, versions, warn, audit, conform, validate });
    const object = (changed ?? sent ?? oldObject) as KubeObject;
    if (changed !== undefined && changed !== null) conform(object);
    return {
      object: drafted === undefined ? object : withReplicasOf(object, drafted, this.#definition),
      validate: async (next) => {
        for (const check of checks) await check(next);
      },
    };
  }

  /** @param isWhole whether the client sent the whole object, and not a patch */
  async #check(
    next: KubeObject,
    { before, isWhole }: { readonly before?: KubeObject; readonly isWhole: boolean },
    { options, part }: WriteRequest,
  ): Promise<void> {
    const definition = this.#definition;
    const passes = this.#storage.lifecycle === "storage";
    const known = passes ? [] : metadataProblems(next, before, definition);
    const found = await this.rules.problems(next, { before, part, metadata: known, request: options });
    if (isWhole) checkReadable(found, definition);
    const asked = passes && found.length > 0 && !this.#keepsNothing;
    const meta = asked ? metadataProblems(next, undefined, definition) : known;
    const own = definition.strategy?.problems?.(next, before, part) ?? [];
    const causes: StatusCause[] = [...meta, ...found, ...own];
    if (causes.length > 0) throw ApiError.invalid({ kind: definition, name: next.metadata.name ?? "", causes });
    // A storage with a lifecycle of its own decides by itself.
    if (passes) return;
    for (const text of finalizerWarnings(next.metadata, before?.metadata)) options.warn(text);
    options.accept?.(next);
  }

  /** Whether the storage stores nothing, as for reviews: such objects need no valid name. */
  get #keepsNothing(): boolean {
    const { lifecycle, get, list, cache } = this.#storage;
    return lifecycle === "storage" && get === undefined && list === undefined && cache === undefined;
  }

  /**
   * Accepts a version that the storage declares current, and restores the storage's annotations. In a change these
   * annotations come from the stored copy, so they do not vouch for its version and are ignored.
   */
  #recognize({ object, by }: Draft, before: KubeObject, { scope }: WriteRequest): void {
    const { resourceVersion } = before.metadata;
    const sent = by === "replacing" ? object : withoutOwn(object, this.#isOwn);
    const isCurrent = this.#storage.isCurrent?.(scope, sent.metadata, before.metadata) === true;
    if (isCurrent && resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
    keepOwnAnnotations(object, before, this.#isOwn);
  }

  /** Does the same for the version in a delete, which has no annotations. */
  #asSeen(query: DeleteQuery, before: KubeObject, { scope }: WriteRequest): DeleteQuery {
    const { preconditions: { resourceVersion: seen, ...others } = {} } = query;
    const { annotations: _annotations, resourceVersion, ...metadata } = before.metadata;
    if (seen === undefined || seen === resourceVersion || resourceVersion === undefined) return query;
    const sent = { ...metadata, resourceVersion: seen };
    if (this.#storage.isCurrent?.(scope, sent, before.metadata) !== true) return query;
    return { ...query, preconditions: { ...others, resourceVersion } };
  }

  readonly #isOwn = (key: string): boolean => this.#storage.ownAnnotations?.(key) === true;
}

/** Returns the stored object for a hook, which may change it. */
function shownToHook(kept: StoredValue, { admit }: WriteRequest): KubeObject {
  return admit === undefined ? kept.object : kept.copy();
}

/** Whether a text is a possible version; Kubernetes treats all others as none. */
function isVersion(text: string | undefined): boolean {
  return text !== undefined && /^0*[1-9]\d*$/.test(text);
}

/** @throws ApiError 409 when the object's uid or version differs from the preconditions */
function checkPreconditions(
  { metadata }: KubeObject,
  { preconditions }: Pick<DeleteQuery, "preconditions">,
  definition: ResourceDefinition,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const { name = "", uid: ownUid = "", resourceVersion: ownVersion = "" } = metadata;
  // Kubernetes names the kind here, not the resource.
  const kind = { group: definition.group, resource: definition.kind };
  if (uid !== undefined && uid !== ownUid) {
    const message = `the UID in the precondition (${uid}) does not match the UID in record (${ownUid}). The object might have been deleted and then recreated`;
    throw ApiError.conflict(kind, name, message);
  }
  if (resourceVersion !== undefined && resourceVersion !== ownVersion) {
    const message = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${ownVersion}). The object might have been modified`;
    throw ApiError.conflict(kind, name, message);
  }
}
