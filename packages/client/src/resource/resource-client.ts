import type { JsonObject, KindReference, KubeObject, ObjectOf } from "@virtual-workspaces/apimachinery";
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
  /** What is served, where `kind` is the metadata of it. @default `kind` */
  readonly metadataOf?: AnyKind;
}

/** Which of several definitions of one name is meant: {@link Client.resource}. */
export interface IdentityOptions {
  /**
   * By whose definition the kind is meant (kcp's resource identity, `status.identityHash` of the APIExport): in all logical
   * clusters (`*`) a kcp has kinds that are bound by it alone. @default none is said
   */
  readonly identity?: string;
}

/** How many replicas there are to be, and are (`autoscaling/v1`). */
export interface Scale extends KubeObject {
  spec: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

/**
 * The objects of one kind, in one logical cluster (or all), in one namespace (or all). Whoever writes says the namespace, by
 * `in` or in the object. Integers beyond 2^53 are `bigint`, both ways; times stay the strings that they are.
 *
 * Every method throws what the server answers as `ApiError`, and `TransportError` where it does not answer, or with
 * something else than was asked for.
 */
export class ResourceClient<T extends object = object> {
  readonly kind: KindReference<T>;
  /** The logical cluster, `*`, or "". */
  readonly cluster: string;
  /** "" for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string;
  readonly #options: ResourceClientOptions<T>;
  readonly #endpoint: ResourceRequests;

  /** @throws ApiError 400 on a kind that is none */
  /** @internal Made by `client.resource()`. */
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

  /** As {@link Client.clusterName}. */
  get clusterName(): string {
    return this.cluster;
  }

  /** The same in one namespace. */
  in(namespace: string): ResourceClient<T> {
    return new ResourceClient({ ...this.#options, namespace });
  }

  /** One object. @throws ApiError 404 when there is none */
  async get(name: string, { resourceVersion, ...options }: GetOptions = {}): Promise<ObjectOf<T>> {
    const path = this.#endpoint.path(name, "", { resourceVersion });
    return this.#expect(await this.#endpoint.read(path, options), path);
  }

  /** One answer of the server, which may be a page: {@link all} asks for the others. */
  async list(options: ListOptions = {}): Promise<ResourceList<T>> {
    const { signal, retries, labels, fields, ...query } = options;
    const path = collectionPath(this.#endpoint.location, { ...query, labelSelector: labels, fieldSelector: fields });
    return expectList(
      await this.#endpoint.read(path, { ...(signal && { signal }), ...(retries === false && { retries }) }, "list"),
      this.kind,
      path,
    );
  }

  /** Everything, in pages of `limit` (500). In memory as a whole: bound it by selectors where there may be much. */
  all(options: AllOptions = {}): Promise<WholeList<T>> {
    return allPages((page) => this.list(page), options);
  }

  /**
   * What happens, until the server ends it or the caller does, by the signal or by leaving the loop: either frees the
   * connection. It does not begin again by itself: that is what an informer is for. An ERROR event is thrown as the `ApiError`
   * that it is.
   */
  watch(options: WatchOptions = {}): AsyncGenerator<ResourceEvent<T>, void, undefined> {
    return watching<T>(this.#endpoint, options);
  }

  /** As {@link watch}, one event after the other, each when the callback is done with the one before. Ends as it does; throws what the callback throws. */
  async watchEach(
    callback: (event: ResourceEvent<T>) => void | Promise<void>,
    options: WatchOptions = {},
  ): Promise<void> {
    for await (const event of this.watch(options)) await callback(event);
  }

  /** Creates it. @throws ApiError 409 (`AlreadyExists`) when the name is taken */
  async create(object: Named<ObjectOf<T>>, options: WriteOptions = {}): Promise<ObjectOf<T>> {
    const endpoint = this.#endpoint.of(object);
    const path = collectionPath(endpoint.location);
    // The server says whether there is to be a namespace.
    return this.#expect(await endpoint.write(path, { method: "POST", body: endpoint.typed(object), options }), path);
  }

  /** Replaces it. With `metadata.resourceVersion`, only that version: 409 (`Conflict`) if there is a newer one. */
  async update(object: ObjectOf<T>, options: WriteOptions = {}): Promise<ObjectOf<T>> {
    const endpoint = this.#endpoint.of(object);
    const path = endpoint.path(object.metadata.name);
    return this.#expect(await endpoint.write(path, { method: "PUT", body: endpoint.typed(object), options }), path);
  }

  /** Server-side apply: creates it, or makes these fields so, and takes away those that were applied before and are not named any more. */
  async apply(object: Named<ObjectOf<T>>, { force, ...options }: ApplyOptions = {}): Promise<ObjectOf<T>> {
    const endpoint = this.#endpoint.of(object);
    const path = endpoint.path(object.metadata.name);
    const body = endpoint.typed(object);
    return this.#expect(await endpoint.write(path, { method: "PATCH", body, options, type: APPLY, force }), path);
  }

  /** RFC 7386: what is named is set, `null` takes away, lists are replaced whole. */
  mergePatch(name: string, patch: JsonObject, options: PatchOptions = {}): Promise<ObjectOf<T>> {
    return this.#patch(name, { body: patch, options, type: "application/merge-patch+json" });
  }

  /** RFC 6902: steps, all of them or none. */
  jsonPatch(name: string, patch: readonly JsonPatchOperation[], options: PatchOptions = {}): Promise<ObjectOf<T>> {
    return this.#patch(name, { body: patch, options, type: "application/json-patch+json" });
  }

  /** As a merge patch, but lists are merged by their keys. Of built-in kinds only: others answer 415. */
  strategicMergePatch(name: string, patch: JsonObject, options: PatchOptions = {}): Promise<ObjectOf<T>> {
    return this.#patch(name, { body: patch, options, type: "application/strategic-merge-patch+json" });
  }

  /** Deletes one. @returns the object as it goes, or a `Status` of success */
  async delete(name: string, options: DeleteOptions = {}): Promise<KubeObject> {
    return await this.#endpoint.delete(this.#endpoint.path(name), options);
  }

  /** Deletes all that are selected, in one namespace or all. @returns the list of what goes, or a `Status` */
  async deleteCollection({ labels, fields, ...options }: DeleteCollectionOptions = {}): Promise<KubeObject> {
    const path = collectionPath(this.#endpoint.location, { labelSelector: labels, fieldSelector: fields });
    return await this.#endpoint.delete(path, options);
  }

  /** `/status`: a write through it changes the status alone. */
  get status(): SubresourceClient<ObjectOf<T>> {
    return this.subresource<ObjectOf<T>>("status");
  }

  /** `/scale`: how many, of kinds that have replicas. */
  get scale(): SubresourceClient<Scale> {
    return this.subresource<Scale>("scale");
  }

  /** Any other, by its name. */
  subresource<S extends object = KubeObject>(name: string): SubresourceClient<S> {
    return new SubresourceClient<S>(this.#endpoint, name);
  }

  async #patch(
    name: string,
    patch: { readonly body: object; readonly options: PatchOptions; readonly type: string },
  ): Promise<ObjectOf<T>> {
    checkPatch(patch.body, patch.type === "application/json-patch+json" ? "list" : "object");
    const path = this.#endpoint.path(name);
    return this.#expect(await this.#endpoint.write(path, { method: "PATCH", ...patch }), path);
  }

  #expect(answer: JsonObject, path: string): ObjectOf<T> {
    return expectObject(answer, this.kind, path) as ObjectOf<T>;
  }
}
