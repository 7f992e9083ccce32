import type { JsonObject, KubeObject } from "@virtual-workspaces/apimachinery";
import type { ApplyOptions, CallOptions, JsonPatchOperation, PatchOptions, WriteOptions } from "./call-options.ts";
import { APPLY, checkPatch, type ResourceRequests } from "./resource-requests.ts";

/** Body of a write to a subresource: an object or part of one, with its name. */
export type Named<S> = Partial<S> & Pick<KubeObject, "metadata">;

/**
 * Client of one subresource of a kind, such as `status`, `scale` or `eviction`. Its methods fail like those of the kind.
 *
 * @typeParam S type of the subresource
 */
export class SubresourceClient<S extends object = KubeObject> {
  readonly name: string;
  readonly #endpoint: ResourceRequests;

  /** @internal Created by `subresource()` of a resource. */
  constructor(endpoint: ResourceRequests, name: string) {
    this.#endpoint = endpoint;
    this.name = name;
  }

  /** Returns the current state. */
  async get(name: string, options: CallOptions = {}): Promise<S> {
    return (await this.#endpoint.read(this.#endpoint.path(name, this.name), options)) as S;
  }

  /** Posts to the subresource, which defines the meaning: an eviction, a token. @param name of the object */
  async create(name: string, body: object, options: WriteOptions = {}): Promise<KubeObject> {
    const path = this.#endpoint.path(name, this.name);
    return (await this.#endpoint.write(path, { method: "POST", body, options })) as KubeObject;
  }

  /** Replaces the subresource. `metadata.resourceVersion`, if set, must be the object's, else 409. */
  async update(body: S & Pick<KubeObject, "metadata">, options: WriteOptions = {}): Promise<S> {
    const endpoint = this.#endpoint.of(body);
    const path = endpoint.path(body.metadata.name, this.name);
    return (await endpoint.write(path, { method: "PUT", body, options })) as S;
  }

  /** Server-side apply: sets these fields for the manager, and removes those that it no longer lists. */
  async apply(body: Named<S>, { force, ...options }: ApplyOptions = {}): Promise<S> {
    const endpoint = this.#endpoint.of(body);
    const path = endpoint.path(body.metadata.name, this.name);
    return (await endpoint.write(path, { method: "PATCH", body, options, type: APPLY, force })) as S;
  }

  /** Merge patch (RFC 7386): sets the given fields, removes those that are `null`. */
  async mergePatch(name: string, patch: JsonObject, options: PatchOptions = {}): Promise<S> {
    checkPatch(patch, "object");
    return await this.#patch(name, { body: patch, options, type: "application/merge-patch+json" });
  }

  /** JSON Patch (RFC 6902): all operations or none. */
  async jsonPatch(name: string, patch: readonly JsonPatchOperation[], options: PatchOptions = {}): Promise<S> {
    checkPatch(patch, "list");
    return await this.#patch(name, { body: patch, options, type: "application/json-patch+json" });
  }

  async #patch(name: string, patch: { body: object; options: PatchOptions; type: string }): Promise<S> {
    return (await this.#endpoint.write(this.#endpoint.path(name, this.name), { method: "PATCH", ...patch })) as S;
  }
}
