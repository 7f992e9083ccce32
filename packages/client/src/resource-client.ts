import {
  ApiError,
  type KindReference,
  type KubeObject,
  type ListMeta,
  type ObjectOf,
  parseOwnJson,
  type WatchEvent,
} from "@virtual-workspaces/apimachinery";
import { lines } from "@virtual-workspaces/transport";
import type { GetOptions, ListOptions, WatchOptions } from "./options/read.ts";
import type { ApplyOptions, DeleteOptions, WriteOptions } from "./options/write.ts";
import type { Requests } from "./requests.ts";

/** A list as the server gave it, or a page of one. */
export interface ResourceList<T> {
  readonly metadata: ListMeta;
  readonly items: ObjectOf<T>[];
}

export interface ResourceClientOptions<T> {
  readonly requests: Requests;
  readonly kind: KindReference<T>;
  readonly cluster: string;
  readonly fieldManager: string;
  readonly namespace?: string;
}

/** The longest line of a watch, bytes. */
const LONGEST_EVENT = 16 * 1024 * 1024;

/** The objects of one kind, in one logical cluster (or all), in one namespace (or all). */
export class ResourceClient<T extends object = object> {
  readonly kind: KindReference<T>;
  /** The logical cluster, `*`, or "". */
  readonly cluster: string;
  /** "" for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string;
  readonly #options: ResourceClientOptions<T>;

  constructor(options: ResourceClientOptions<T>) {
    this.#options = options;
    this.kind = options.kind;
    this.cluster = options.cluster;
    this.namespace = options.namespace ?? "";
  }

  /** The same in one namespace. */
  in(namespace: string): ResourceClient<T> {
    return new ResourceClient({ ...this.#options, namespace });
  }

  get(name: string, { resourceVersion, signal }: GetOptions = {}): Promise<ObjectOf<T>> {
    return this.#ask("GET", this.#path(name, { resourceVersion }), { signal });
  }

  async list(options: ListOptions = {}): Promise<ResourceList<T>> {
    const { signal, labels, fields, ...query } = options;
    const path = this.#path("", { ...query, labelSelector: labels, fieldSelector: fields });
    const list = (await this.#ask("GET", path, { signal })) as unknown as ResourceList<T>;
    const { kind, group, version } = this.kind;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    // Items of a list of a built-in kind do not say what they are.
    for (const item of list.items)
      Object.assign(item, { apiVersion: item.apiVersion ?? apiVersion, kind: item.kind ?? kind });
    return list;
  }

  /** What happens, until the server ends it or the caller does. An ERROR event is thrown as the {@link ApiError} that it is. */
  async *watch(
    options: WatchOptions = {},
  ): AsyncGenerator<Exclude<WatchEvent<ObjectOf<T>>, { type: "ERROR" }>, void, undefined> {
    const { signal, labels, fields, idle = Number.POSITIVE_INFINITY, allowWatchBookmarks = true, ...others } = options;
    const { onOpen, onBytes, ...query } = others;
    const path = this.#path("", {
      ...query,
      watch: true,
      allowWatchBookmarks,
      labelSelector: labels,
      fieldSelector: fields,
    });
    await using answer = await this.#options.requests.stream({ path, ...(signal && { signal }), deadlines: { idle } });
    onOpen?.();
    for await (const line of lines(answer.body, { limit: LONGEST_EVENT })) {
      onBytes?.(line.length);
      const event = parseOwnJson(line.toString("utf8")) as unknown as WatchEvent<ObjectOf<T>>;
      if (event.type === "ERROR") throw new ApiError(event.object);
      yield event;
    }
  }

  create(
    object: Partial<ObjectOf<T>> & Pick<KubeObject, "metadata">,
    options: WriteOptions = {},
  ): Promise<ObjectOf<T>> {
    const body = JSON.stringify({ ...this.#type(), ...object });
    return this.#ask("POST", this.#path("", this.#write(options)), { body, signal: options.signal });
  }

  update(object: ObjectOf<T>, options: WriteOptions = {}): Promise<ObjectOf<T>> {
    const { name = "" } = object.metadata;
    const body = JSON.stringify({ ...this.#type(), ...object });
    return this.#ask("PUT", this.#path(name, this.#write(options)), { body, signal: options.signal });
  }

  apply(object: Partial<ObjectOf<T>> & Pick<KubeObject, "metadata">, options: ApplyOptions = {}): Promise<ObjectOf<T>> {
    const { name = "" } = object.metadata;
    const query = { ...this.#write(options), force: options.force };
    const body = JSON.stringify({ ...this.#type(), ...object });
    return this.#ask("PATCH", this.#path(name, query), {
      body,
      signal: options.signal,
      type: "application/apply-patch+yaml",
    });
  }

  delete(name: string, { signal, dryRun, ...body }: DeleteOptions = {}): Promise<KubeObject> {
    const text = JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", ...body });
    return this.#ask("DELETE", this.#path(name, { dryRun: dryRun === true ? "All" : undefined }), {
      body: text,
      signal,
    });
  }

  #type(): { apiVersion: string; kind: string } {
    const { group, version, kind } = this.kind;
    return { apiVersion: group === "" ? version : `${group}/${version}`, kind };
  }

  #write({
    fieldManager = this.#options.fieldManager,
    dryRun,
    fieldValidation,
  }: WriteOptions): Record<string, unknown> {
    return { fieldManager, fieldValidation, dryRun: dryRun === true ? "All" : undefined };
  }

  async #ask(
    method: string,
    path: string,
    { body, signal, type = "application/json" }: { body?: string; signal?: AbortSignal | undefined; type?: string },
  ): Promise<ObjectOf<T>> {
    const headers = body === undefined ? [] : ["Content-Type", type];
    const request = { method, path, headers, ...(signal && { signal }), ...(body === undefined ? {} : { body }) };
    return (await this.#options.requests.json(request)) as ObjectOf<T>;
  }

  #path(name: string, query: Readonly<Record<string, unknown>>): string {
    const { group, version, plural, scope } = this.kind;
    const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const place =
      scope === "Namespaced" && this.namespace !== "" ? `/namespaces/${encodeURIComponent(this.namespace)}` : "";
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) if (value !== undefined) parameters.set(key, String(value));
    const search = parameters.size === 0 ? "" : `?${parameters}`;
    return `${root}${place}/${plural}${name === "" ? "" : `/${encodeURIComponent(name)}`}${search}`;
  }
}
