import { ApiError, formatTime, isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import { groupResourceOf, type KindVersions } from "@virtual-workspaces/framework/resource";
import {
  type Awaitable,
  type CacheLease,
  type DeleteOptions,
  decodeObject,
  type Encoded,
  type Scope,
  type Storage,
} from "@virtual-workspaces/framework/storage";
import type { PersistentCollection } from "@virtual-workspaces/store";
import {
  CLEANUP_FINALIZER,
  type CrdContent,
  type CustomResourceDefinition,
  initialStatus,
  withCondition,
  withStorageVersion,
} from "./definition.ts";

/** Stored CustomResourceDefinitions. */
export type CrdCollection = PersistentCollection<CrdContent>;

/**
 * Storage that serves CustomResourceDefinitions: the collection, with the behavior of Kubernetes' registry. The status
 * of a new definition names its storage version. A finalizer keeps a deleted definition until its objects are gone.
 */
export class CrdStorage implements Storage<CustomResourceDefinition> {
  readonly resource: TypedDefinition<CrdContent>;
  readonly versions: KindVersions;
  readonly garbageCollected: boolean;
  readonly #crds: CrdCollection;
  readonly #now: () => Date;

  constructor(crds: CrdCollection, now: () => Date) {
    this.#crds = crds;
    this.#now = now;
    this.resource = crds.resource;
    this.versions = crds.versions;
    this.garbageCollected = crds.garbageCollected;
  }

  get(scope: Scope, key: ObjectKey): Awaitable<Encoded | undefined> {
    return this.#crds.get(scope, key);
  }

  /** Key space of the collection. */
  get space(): string {
    return this.#crds.space;
  }

  /** Objects of the collection. */
  objectsIn(
    place: Omit<ObjectKey, "name">,
    options?: { readonly signal?: AbortSignal },
  ): AsyncGenerator<Encoded, void, undefined> {
    return this.#crds.objectsIn(place, options);
  }

  cache(): Awaitable<CacheLease> {
    return this.#crds.cache();
  }

  shareKey(): string {
    return this.#crds.shareKey();
  }

  ownAnnotations(key: string): boolean {
    return this.#crds.ownAnnotations(key);
  }

  create(scope: Scope, crd: CustomResourceDefinition): Promise<Encoded> {
    return this.#crds.create(scope, { ...crd, status: initialStatus(crd.spec) });
  }

  update(scope: Scope, crd: CustomResourceDefinition): Promise<Encoded> {
    const next = { ...crd, status: withStorageVersion(crd.status ?? {}, crd.spec) };
    return this.#crds.update(scope, next.metadata.deletionTimestamp === undefined ? next : this.#held(next));
  }

  /** Marks a definition as deleted and adds the finalizer; a marked one is deleted. @throws ApiError 404, 409 */
  async delete(scope: Scope, key: ObjectKey, options: DeleteOptions): Promise<Encoded | undefined> {
    const { preconditions } = options;
    for (;;) {
      const there = await this.#crds.get(scope, key);
      if (there === undefined) throw ApiError.notFound(groupResourceOf(this.resource), key.name);
      const crd = decodeObject<CustomResourceDefinition>(there);
      if (crd.metadata.deletionTimestamp !== undefined) {
        await this.#crds.delete(scope, key, { ...(preconditions && { preconditions }) });
        return undefined;
      }
      // The client's precondition decides; by default, the version that was just read.
      const resourceVersion = preconditions?.resourceVersion ?? there.resourceVersion;
      const marked = { ...crd.metadata, resourceVersion, ...this.#mark(crd) };
      try {
        return await this.#crds.update(scope, this.#held({ ...crd, metadata: marked }));
      } catch (error) {
        const raced = isApiError(error) && error.code === 409 && preconditions?.resourceVersion === undefined;
        if (!raced) throw error;
      }
    }
  }

  #mark({ metadata: { generation = 0 } }: CustomResourceDefinition): Partial<CustomResourceDefinition["metadata"]> {
    const deletionTimestamp = formatTime(this.#now());
    return { deletionTimestamp, deletionGracePeriodSeconds: 0, generation: generation + 1 };
  }

  /** Adds the finalizer once: removing it from a definition that is being deleted is intentional. */
  #held(crd: CustomResourceDefinition): CustomResourceDefinition {
    const { metadata, status = {} } = crd;
    if (status.conditions?.some(({ type }) => type === "Terminating") === true) return crd;
    const finalizers = [...new Set([...(metadata.finalizers ?? []), CLEANUP_FINALIZER])];
    const pending = {
      type: "Terminating",
      status: "True",
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    } as const;
    return { ...crd, metadata: { ...metadata, finalizers }, status: withCondition(status, pending, this.#now()) };
  }
}
