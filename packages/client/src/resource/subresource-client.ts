import type { JsonObject, KubeObject } from "@virtual-workspaces/apimachinery";
import type { ApplyOptions, CallOptions, JsonPatchOperation, PatchOptions, WriteOptions } from "./call-options.ts";
import { APPLY, checkPatch, type ResourceRequests } from "./resource-requests.ts";

/** What can be put into a subresource: an object, or a part of one, that says whose it is. */
export type Named<S> = Partial<S> & Pick<KubeObject, "metadata">;

/**
 * One subresource of a kind's objects, such as `status`, `scale` or `eviction`. Methods fail as those of the kind do.
 *
 * @typeParam S what it is read and written as
 */
export class SubresourceClient<S extends object = KubeObject> {
  readonly name: string;
  readonly #endpoint: ResourceRequests;

  /** @internal Made by `subresource()` of a resource. */
  constructor(endpoint: ResourceRequests, name: string) {
    this.#endpoint = endpoint;
    this.name = name;
  }

  /** As it is now. */
  async get(name: string, options: CallOptions = {}): Promise<S> {
    return (await this.#endpoint.read(this.#endpoint.path(name, this.name), options)) as S;
  }

  /** What it means is the subresource's to say: an eviction, a token. @param name of the object */
  async create(name: string, body: object, options: WriteOptions = {}): Promise<KubeObject> {
    const path = this.#endpoint.path(name, this.name);
    return (await this.#endpoint.write(path, { method: "POST", body, options })) as KubeObject;
  }

  /** Replaces it; `metadata.resourceVersion`, if there is one, must be that of the object: else 409. */
  async update(body: S & Pick<KubeObject, "metadata">, options: WriteOptions = {}): Promise<S> {
    const endpoint = this.#endpoint.of(body);
    const path = endpoint.path(body.metadata.name, this.name);
    return (await endpoint.write(path, { method: "PUT", body, options })) as S;
  }

  /** Server-side apply: these fields are the manager's from now on, those it no longer names go. */
  async apply(body: Named<S>, { force, ...options }: ApplyOptions = {}): Promise<S> {
    const endpoint = this.#endpoint.of(body);
    const path = endpoint.path(body.metadata.name, this.name);
    return (await endpoint.write(path, { method: "PATCH", body, options, type: APPLY, force })) as S;
  }

  /** RFC 7386: what is named is set, `null` takes away. */
  async mergePatch(name: string, patch: JsonObject, options: PatchOptions = {}): Promise<S> {
    checkPatch(patch, "object");
    return await this.#patch(name, { body: patch, options, type: "application/merge-patch+json" });
  }

  /** RFC 6902: steps, all of them or none. */
  async jsonPatch(name: string, patch: readonly JsonPatchOperation[], options: PatchOptions = {}): Promise<S> {
    checkPatch(patch, "list");
    return await this.#patch(name, { body: patch, options, type: "application/json-patch+json" });
  }

  async #patch(name: string, patch: { body: object; options: PatchOptions; type: string }): Promise<S> {
    return (await this.#endpoint.write(this.#endpoint.path(name, this.name), { method: "PATCH", ...patch })) as S;
  }
}
