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

/** What the requests of one kind have in common. */
export interface ResourceRequestsOptions extends ResourceLocation {
  readonly requests: Requests;
  readonly fieldManager: string;
  /** Of objects only the metadata is wanted. @default false */
  readonly metadataOnly?: boolean;
}

/** What is answered: one object or event, or a list of them. */
export type Form = "one" | "list";

/** A write of one object, or of a subresource of it. */
export interface Write {
  readonly method: "POST" | "PUT" | "PATCH";
  readonly body: object;
  readonly options: WriteOptions;
  /** Of the body. @default JSON */
  readonly type?: string;
  readonly force?: boolean | undefined;
}

/** Requests about objects of one kind, checked before they are sent and when they are answered. */
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

  /** The same for an object, which may say its namespace itself. */
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

  /** The header by which the metadata alone is asked for, where no more is wanted. */
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
      // An apply says what is to be, not what is to be done.
      repeatable: dryRun === true || type === APPLY ? "safe" : "unsafe",
      retries,
      ...(signal && { signal }),
    });
  }

  async delete(path: string, { signal, retries, dryRun, ...rest }: DeleteOptions): Promise<KubeObject> {
    rejectWildcard(this.#options);
    // In the body: servers do not look at the query where there is one.
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

  /** The body of a write: what a kind's objects say of themselves is put in where it is missing. */
  typed(object: object): object {
    return { apiVersion: apiVersionOf(this.#options.kind), kind: this.#options.kind.kind, ...object };
  }
}

export const APPLY = "application/apply-patch+yaml";

/** @throws TransportError `malformed` on an answer that is something else than was asked for */
export function expectObject(answer: JsonObject, kind: AnyKind, path: string): KubeObject {
  if (answer["kind"] !== kind.kind || !isJsonObject(answer["metadata"]))
    throw malformed(path.split("?", 1)[0] ?? "", `the answer is ${called(answer)} instead of ${kind.kind}`);
  return answer as unknown as KubeObject;
}

export function called(answer: JsonObject): string {
  const { kind } = answer;
  return typeof kind === "string" && kind !== "" ? JSON.stringify(kind.slice(0, 100)) : "of no kind";
}

/** @throws ApiError 400 on a patch that is another kind of patch */
export function checkPatch(patch: unknown, form: "object" | "list"): void {
  if (form === "list" ? Array.isArray(patch) : isJsonObject(patch)) return;
  throw ApiError.badRequest(
    form === "list"
      ? "a JSON patch is a list of operations: for an object, use mergePatch"
      : "the patch must be an object: for a list of operations, use jsonPatch",
  );
}
