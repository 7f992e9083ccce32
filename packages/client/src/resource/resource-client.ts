import type { JsonObject, KindReference, KubeObject, ObjectOf, StoredObject } from "@virtual-workspaces/apimachinery";
import type { Requests } from "../http/requests.ts";
import type {
  AllOptions,
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  JsonPatchOperation,
  ListOptions,
  PatchOptions,
  WatchOptions,
  WriteOptions,
} from "./call-options.ts";
import { allPages, expectList, type ResourceList, type WholeList } from "./list.ts";
import { type AnyKind, checkIdentity, checkKind, collectionPath } from "./location.ts";
import { APPLY, checkPatch, expectObject, ResourceRequests } from "./resource-requests.ts";
import { type Named, SubresourceClient } from "./subresource-client.ts";
import { type ResourceEvent, watching } from "./watch.ts";

export interface ResourceClientOptions<T> {
  readonly requests: Requests;
  readonly kind: KindReference<T>;
  readonly cluster: string;
  readonly fieldManager: string;
  readonly namespace?: string;
  readonly identity?: string;
  /** Kind in the URL, if `kind` is its metadata. @default `kind` */
  readonly metadataOf?: AnyKind;
}

/** Selects one of several definitions with the same name: {@link Client.resource}. */
export interface IdentityOptions {
  /**
   * Resource identity (kcp's `status.identityHash` of the APIExport). Across all logical clusters (`*`), kcp serves bound
   * kinds only with it.
   * @default none
   */
  readonly identity?: string;
}

/** Desired and actual number of replicas (`autoscaling/v1`). */
export interface Scale extends KubeObject {
  spec: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

/**
 * Client of one kind, in one or all logical clusters, in one or all namespaces. Writes require a namespace, from `in` or the
 * object. Integers beyond 2^53 are `bigint` in both directions; times stay strings.
 *
 * Every method throws `ApiError` for an error of the server, and `TransportError` if there is no valid response.
 */
export class ResourceClient<T extends object = object> {
  readonly kind: KindReference<T>;
  /** Logical cluster, `*`, or "". */
  readonly cluster: string;
  /** Namespace; "" for all, and for cluster-scoped kinds. */
  readonly namespace: string;
  readonly #options: ResourceClientOptions<T>;
  readonly #endpoint: ResourceRequests;

  /** @throws ApiError 400 for an invalid kind */
  /** @internal Created by `client.resource()`. */
  constructor(options: ResourceClientOptions<T>) {
    const { requests, kind, cluster, fieldManager, namespace = "", identity, metadataOf } = options;
    checkKind(metadataOf ?? kind);
    if (identity !== undefined) checkIdentity(identity);
    this.#options = options;
    this.kind = kind;
    this.cluster = cluster;
    this.namespace = namespace;
    const place = { kind: metadataOf ?? kind, cluster, namespace, ...(identity !== undefined && { identity }) };
    this.#endpoint = new ResourceRequests({ requests, fieldManager, metadataOnly: metadataOf !== undefined, ...place });
  }

  /** Same as {@link Client.clusterName}. */
  get clusterName(): string {
    return this.cluster;
  }

  /** @internal URL of the collection, without a query. */
  get url(): string {
    return this.#options.requests.url(collectionPath(this.#endpoint.location));
  }

  /** Returns a client of one namespace. */
  in(namespace: string): ResourceClient<T> {
    return new ResourceClient({ ...this.#options, namespace });
  }

  /** Returns an object. @throws ApiError 404 if it does not exist */
  async get(name: string, { resourceVersion, ...options }: GetOptions = {}): Promise<StoredObject<T>> {
    const path = this.#endpoint.path(name, "", { resourceVersion });
    return this.#expect(await this.#endpoint.read(path, options), path);
  }

  /** Sends one list request. The response may be a page: {@link all} requests the others. */
  async list(options: ListOptions = {}): Promise<ResourceList<T>> {
    const { signal, retries, labels, fields, ...query } = options;
    const path = collectionPath(this.#endpoint.location, { ...query, labelSelector: labels, fieldSelector: fields });
    return expectList(
      await this.#endpoint.read(path, { ...(signal && { signal }), ...(retries === false && { retries }) }, "list"),
      this.kind,
      path,
    );
  }

  /** Lists everything in pages of `limit` (500) into memory. Use selectors to limit its size. */
  all(options: AllOptions = {}): Promise<WholeList<T>> {
    return allPages((page) => this.list(page), options);
  }

  /**
   * Watches until the server ends the watch, the signal aborts, or the caller leaves the loop; all of these free the
   * connection. It does not reconnect: use an informer for that. An ERROR event is thrown as an `ApiError`.
   */
  watch(options: WatchOptions = {}): AsyncGenerator<ResourceEvent<T>, void, undefined> {
    return watching<T>(this.#endpoint, options);
  }

  /** Watches like {@link watch}, with a callback that completes before the next event. Throws what the callback throws. */
  async watchEach(
    callback: (event: ResourceEvent<T>) => void | Promise<void>,
    options: WatchOptions = {},
  ): Promise<void> {
    for await (const event of this.watch(options)) await callback(event);
  }

  /** Creates an object. @throws ApiError 409 (`AlreadyExists`) if the name is taken */
  async create(object: Named<ObjectOf<T>>, options: WriteOptions = {}): Promise<StoredObject<T>> {
    const endpoint = this.#endpoint.of(object);
    const path = collectionPath(endpoint.location);
    // The server knows whether a namespace is required.
    return this.#expect(await endpoint.write(path, { method: "POST", body: endpoint.typed(object), options }), path);
  }

  /** Replaces an object. With `metadata.resourceVersion` it replaces only that version: 409 (`Conflict`) if there is a newer one. */
  async update(object: ObjectOf<T>, options: WriteOptions = {}): Promise<StoredObject<T>> {
    const endpoint = this.#endpoint.of(object);
    const path = endpoint.path(object.metadata.name);
    return this.#expect(await endpoint.write(path, { method: "PUT", body: endpoint.typed(object), options }), path);
  }

  /** Server-side apply: creates the object or sets these fields, and removes those applied before and no longer listed. */
  async apply(object: Named<ObjectOf<T>>, { force, ...options }: ApplyOptions = {}): Promise<StoredObject<T>> {
    const endpoint = this.#endpoint.of(object);
    const path = endpoint.path(object.metadata.name);
    const body = endpoint.typed(object);
    return this.#expect(await endpoint.write(path, { method: "PATCH", body, options, type: APPLY, force }), path);
  }

  /** Merge patch (RFC 7386): sets the given fields, removes those that are `null`, and replaces lists. */
  mergePatch(name: string, patch: JsonObject, options: PatchOptions = {}): Promise<StoredObject<T>> {
    return this.#patch(name, { body: patch, options, type: "application/merge-patch+json" });
  }

  /** JSON Patch (RFC 6902): all operations or none. */
  jsonPatch(name: string, patch: readonly JsonPatchOperation[], options: PatchOptions = {}): Promise<StoredObject<T>> {
    return this.#patch(name, { body: patch, options, type: "application/json-patch+json" });
  }

  /** Strategic merge patch: like a merge patch, but merges lists by their keys. For built-in kinds only: others answer 415. */
  strategicMergePatch(name: string, patch: JsonObject, options: PatchOptions = {}): Promise<StoredObject<T>> {
    return this.#patch(name, { body: patch, options, type: "application/strategic-merge-patch+json" });
  }

  /** Deletes an object. @returns its last state, or a `Status` of success */
  async delete(name: string, options: DeleteOptions = {}): Promise<KubeObject> {
    return await this.#endpoint.delete(this.#endpoint.path(name), options);
  }

  /** Deletes all selected objects, in one or all namespaces. @returns the list of them, or a `Status` */
  async deleteCollection({ labels, fields, ...options }: DeleteCollectionOptions = {}): Promise<KubeObject> {
    const path = collectionPath(this.#endpoint.location, { labelSelector: labels, fieldSelector: fields });
    return await this.#endpoint.delete(path, options);
  }

  /** `/status`: a write changes only the status. */
  get status(): SubresourceClient<ObjectOf<T>> {
    return this.subresource<ObjectOf<T>>("status");
  }

  /** `/scale`: number of replicas. */
  get scale(): SubresourceClient<Scale> {
    return this.subresource<Scale>("scale");
  }

  /** Returns the client of any other subresource. */
  subresource<S extends object = KubeObject>(name: string): SubresourceClient<S> {
    return new SubresourceClient<S>(this.#endpoint, name);
  }

  async #patch(
    name: string,
    patch: { readonly body: object; readonly options: PatchOptions; readonly type: string },
  ): Promise<StoredObject<T>> {
    checkPatch(patch.body, patch.type === "application/json-patch+json" ? "list" : "object");
    const path = this.#endpoint.path(name);
    return this.#expect(await this.#endpoint.write(path, { method: "PATCH", ...patch }), path);
  }

  #expect(answer: JsonObject, path: string): StoredObject<T> {
    return expectObject(answer, this.kind, path) as StoredObject<T>;
  }
}
