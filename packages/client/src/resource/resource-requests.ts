import {
  ApiError,
  apiVersionOf,
  isJsonObject,
  type JsonObject,
  type KubeObject,
} from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { malformed } from "../http/answer.ts";
import type { Requests } from "../http/requests.ts";
import type { CallOptions, DeleteOptions, WriteOptions } from "./call-options.ts";
import {
  type AnyKind,
  namespaceOf,
  objectPath,
  type Query,
  type ResourceLocation,
  rejectWildcard,
} from "./location.ts";

/** Properties that all requests of a kind share. */
export interface ResourceRequestsOptions extends ResourceLocation {
  readonly requests: Requests;
  readonly fieldManager: string;
  /** Requests only the metadata of objects. @default false */
  readonly metadataOnly?: boolean;
}

/** Form of the response: one object or event, or a list. */
export type Form = "one" | "list";

/** Write of an object or subresource. */
export interface Write {
  readonly method: "POST" | "PUT" | "PATCH";
  readonly body: object;
  readonly options: WriteOptions;
  /** Media type of the body. @default JSON */
  readonly type?: string;
  readonly force?: boolean | undefined;
}

/** Requests for objects of one kind, validated before they are sent and when the response arrives. */
export class ResourceRequests {
  readonly #options: ResourceRequestsOptions;

  constructor(options: ResourceRequestsOptions) {
    this.#options = options;
  }

  get location(): ResourceLocation {
    return this.#options;
  }

  get requests(): Requests {
    return this.#options.requests;
  }

  /** Returns the requests for an object, which may name its own namespace. */
  of({ metadata }: Pick<KubeObject, "metadata">): ResourceRequests {
    const namespace = namespaceOf(this.#options, metadata?.namespace);
    return namespace === this.#options.namespace ? this : new ResourceRequests({ ...this.#options, namespace });
  }

  /** @throws ApiError 400 without a name */
  path(name: string | undefined, subresource = "", query: Query = {}): string {
    return objectPath(this.#options, name ?? "", { subresource, query });
  }

  async read(path: string, { signal, retries }: CallOptions, form: Form = "one"): Promise<JsonObject> {
    const headers = this.accept(form);
    return await this.#options.requests.json({ path, headers, retries, ...(signal && { signal }) });
  }

  /** Returns the header that requests only metadata, if that is enough. */
  accept(form: Form): readonly string[] {
    if (this.#options.metadataOnly !== true) return [];
    return ["Accept", `application/json;as=PartialObjectMetadata${form === "list" ? "List" : ""};g=meta.k8s.io;v=v1`];
  }

  /** @param path without a query */
  async write(path: string, { method, body, options, type = "application/json", force }: Write): Promise<JsonObject> {
    rejectWildcard(this.#options);
    const { signal, retries, dryRun, fieldValidation, fieldManager = this.#options.fieldManager } = options;
    const query = new URLSearchParams({ fieldManager });
    if (fieldValidation !== undefined) query.set("fieldValidation", fieldValidation);
    if (dryRun === true) query.set("dryRun", "All");
    if (force !== undefined) query.set("force", String(force));
    return await this.#options.requests.json({
      method,
      path: `${path}?${query}`,
      headers: [...this.accept("one"), "Content-Type", type],
      body: stringifyJson(body),
      // Apply is idempotent.
      repeatable: dryRun === true || type === APPLY ? "safe" : "unsafe",
      retries,
      ...(signal && { signal }),
    });
  }

  async delete(path: string, { signal, retries, dryRun, ...rest }: DeleteOptions): Promise<KubeObject> {
    rejectWildcard(this.#options);
    // In the body, since servers ignore the query if there is one.
    const body = { kind: "DeleteOptions", apiVersion: "v1", ...rest, ...(dryRun === true && { dryRun: ["All"] }) };
    const answer = await this.#options.requests.json({
      method: "DELETE",
      path,
      headers: ["Content-Type", "application/json"],
      body: JSON.stringify(body),
      repeatable: dryRun === true ? "safe" : "unsafe",
      retries,
      ...(signal && { signal }),
    });
    return answer as KubeObject;
  }

  /** Returns the body of a write, with apiVersion and kind if they are missing. */
  typed(object: object): object {
    return { apiVersion: apiVersionOf(this.#options.kind), kind: this.#options.kind.kind, ...object };
  }
}

export const APPLY = "application/apply-patch+yaml";

/** @throws TransportError `malformed` if the response is of another kind */
export function expectObject(answer: JsonObject, kind: AnyKind, path: string): KubeObject {
  if (answer["kind"] !== kind.kind || !isJsonObject(answer["metadata"]))
    throw malformed(path.split("?", 1)[0] ?? "", `the response is ${called(answer)} instead of ${kind.kind}`);
  return answer as unknown as KubeObject;
}

export function called(answer: JsonObject): string {
  const { kind } = answer;
  return typeof kind === "string" && kind !== "" ? JSON.stringify(kind.slice(0, 100)) : "of no kind";
}

/** @throws ApiError 400 for the form of another kind of patch */
export function checkPatch(patch: unknown, form: "object" | "list"): void {
  if (form === "list" ? Array.isArray(patch) : isJsonObject(patch)) return;
  throw ApiError.badRequest(
    form === "list"
      ? "the JSON patch is not a list of operations: for an object, use mergePatch"
      : "the patch is not an object: for a list of operations, use jsonPatch",
  );
}
