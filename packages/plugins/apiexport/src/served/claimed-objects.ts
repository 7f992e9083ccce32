import { ApiError, type ObjectKey, WILDCARD } from "@virtual-workspaces/apimachinery";
import type { Forwarded } from "@virtual-workspaces/forwarding";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import {
  type CacheLease,
  type DeleteCollectionOptions,
  type DeleteOptions,
  decodeObject,
  type Encoded,
  type EncodedList,
  type GetOptions,
  type ListRequest,
  type ListResult,
  type PatchOptions,
  type Scope,
  type SentWrite,
  type Storage,
  type WriteOptions,
  type Written,
} from "@virtual-workspaces/framework/storage";
import type { ClaimSelector } from "@virtual-workspaces/kcp/apis";
import type { ApiModel } from "../model/api-model.ts";
import type { ExportKey } from "../model/bindings.ts";
import { acceptedClaim, isBound } from "../model/bindings.ts";
import { missingLabels, SelectedWrites } from "./selected-writes.ts";

/** Options of {@link ClaimedObjects}. */
export interface ClaimedObjectsOptions {
  readonly model: Pick<ApiModel, "binding">;
  readonly of: ExportKey;
}

type Writes = Required<Pick<Storage, "create" | "update" | "pass" | "patch" | "delete" | "deleteCollection">>;

/**
 * Claimed objects in bound workspaces. The workspace's claim must select every written object: the storage adds missing
 * `matchLabels` and rejects other objects. For the usual claim on all objects, writes are forwarded unchanged.
 */
export class ClaimedObjects implements Storage {
  readonly resource: ResourceDefinition;
  readonly appliesSelectors = true;
  readonly keepsOptions = true;
  readonly lifecycle = "storage";
  readonly #objects: Forwarded<object>;
  readonly #writes: Writes;
  readonly #options: ClaimedObjectsOptions;
  readonly #selected: SelectedWrites;

  constructor(objects: Forwarded<object>, options: ClaimedObjectsOptions) {
    this.resource = objects.resource;
    this.#objects = objects;
    // Without a transform, the forwarded storage supports every write.
    this.#writes = objects as unknown as Writes;
    this.#options = options;
    this.#selected = new SelectedWrites(this.resource, this.#writes);
  }

  get(scope: Scope, key: ObjectKey, options: GetOptions): Promise<Encoded | undefined> {
    return this.#objects.get(scope, key, options) as Promise<Encoded | undefined>;
  }

  list(scope: Scope, options: ListRequest): Promise<EncodedList> {
    return this.#objects.list(scope, options);
  }

  cache(scope: Scope): Promise<CacheLease> {
    return this.#objects.cache(scope);
  }

  shareKey(scope: Scope): string {
    return this.#objects.shareKey(scope);
  }

  // Never called beside `pass`, but it declares that creates exist.
  create(scope: Scope, object: Parameters<Writes["create"]>[1], options: WriteOptions): ReturnType<Writes["create"]> {
    return this.#writes.create(scope, object, options);
  }

  // Like `create`.
  update(scope: Scope, object: Parameters<Writes["update"]>[1], options: WriteOptions): ReturnType<Writes["update"]> {
    return this.#writes.update(scope, object, options);
  }

  async pass(scope: Scope, write: SentWrite): Promise<Written> {
    const selector = this.#selector(scope);
    if (selector === undefined || write.subresource !== undefined) return this.#writes.pass(scope, write);
    return this.#selected.pass(scope, write, selector);
  }

  async patch(scope: Scope, key: ObjectKey, patch: PatchOptions): Promise<Written> {
    const selector = this.#selector(scope);
    if (selector === undefined || patch.subresource !== undefined) return this.#writes.patch(scope, key, patch);
    return this.#selected.patch({ scope, key, selector }, patch);
  }

  async delete(scope: Scope, key: ObjectKey, options: DeleteOptions): Promise<Awaited<ReturnType<Writes["delete"]>>> {
    const selector = this.#selector(scope);
    if (selector !== undefined) {
      const { user, signal, requestId, warn } = options;
      const found = await this.get(scope, key, { user, signal, requestId, warn });
      const object = found && decodeObject(found);
      if (object !== undefined && missingLabels(object, selector, this.resource) !== undefined)
        throw this.#forbidden("object does not match required labels");
    }
    return this.#writes.delete(scope, key, options);
  }

  async deleteCollection(
    scope: Scope,
    options: DeleteCollectionOptions,
  ): Promise<ListResult | Awaited<ReturnType<Writes["deleteCollection"]>>> {
    return this.#writes.deleteCollection(scope, options);
  }

  /** Returns the selector of the workspace's claim, or undefined if it does not limit anything. @throws ApiError 403 */
  #selector({ cluster }: Scope): ClaimSelector | undefined {
    if (cluster === WILDCARD) return undefined;
    const { model, of } = this.#options;
    const binding = model.binding(cluster, of);
    if (binding === undefined) throw this.#forbidden("could not find suitable apibinding in target logical cluster");
    const { group, plural: resource } = this.resource;
    if (isBound(binding, { group, resource })) return undefined;
    const selector = acceptedClaim(binding, { group, resource })?.selector;
    return selector?.matchAll === true ? undefined : selector;
  }

  #forbidden(message: string): ApiError {
    return ApiError.forbidden({ resource: groupResourceOf(this.resource), message });
  }
}
