// Builds steps: one method for each request for objects of a kind.
import type { RequestStep, WatchStep } from "./step.ts";

export interface Particulars {
  /** Query without its question mark. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: string;
  readonly base?: string;
  /** Subresource, `status` or `scale`. */
  readonly sub?: string;
  readonly namespace?: string;
}

/** Body with a media type, sent unchanged. */
export interface Raw {
  readonly type: string;
  readonly text?: string;
  readonly fill?: RequestStep["fill"];
}

/** Content of an object besides its type; `metadata` is merged with its name. */
export type Content = Readonly<Record<string, unknown>> & { readonly metadata?: Readonly<Record<string, unknown>> };

export const JSON_TYPE = "application/json";
export const YAML_TYPE = "application/yaml";
export const MERGE_TYPE = "application/merge-patch+json";
export const JSON_PATCH_TYPE = "application/json-patch+json";
export const APPLY_TYPE = "application/apply-patch+yaml";

/** Steps for objects of one kind. */
export class Api {
  readonly apiVersion: string;
  readonly kind: string;
  readonly #plural: string;
  readonly #namespaced: boolean;

  constructor(kind: string, { namespaced = true, version = "v1" } = {}) {
    this.apiVersion = `oracle.dev/${version}`;
    this.kind = kind;
    this.#plural = `${kind.toLowerCase()}s`;
    this.#namespaced = namespaced;
  }

  /** Returns the path of the kind, or of one of its objects. */
  path(name = "", { namespace = "ns", sub, query }: Particulars = {}): string {
    const place = this.#namespaced && namespace !== "" ? `/namespaces/${namespace}` : "";
    const object = name === "" ? "" : `/${name}`;
    const below = sub === undefined ? "" : `/${sub}`;
    return `/apis/${this.apiVersion}${place}/${this.#plural}${object}${below}${query === undefined ? "" : `?${query}`}`;
  }

  /** Returns an object of the kind. */
  of(name: string, { metadata, ...content }: Content = {}): Record<string, unknown> {
    return { apiVersion: this.apiVersion, kind: this.kind, metadata: { name, ...metadata }, ...content };
  }

  create(body: unknown, options: Particulars = {}): RequestStep {
    return this.#request("POST", this.path("", options), { body, ...options });
  }

  /** Creates an object with this name. */
  make(name: string, content: Content = {}, options: Particulars = {}): RequestStep {
    return this.create(this.of(name, content), options);
  }

  get(name: string, options: Particulars = {}): RequestStep {
    return this.#request("GET", this.path(name, options), options);
  }

  list(query?: string, options: Particulars = {}): RequestStep {
    return this.#request("GET", this.path("", { ...options, ...(query === undefined ? {} : { query }) }), options);
  }

  put(name: string, body: unknown, options: Particulars = {}): RequestStep {
    return this.#request("PUT", this.path(name, options), { body, ...options });
  }

  /** Sends a PUT of an earlier answer, with `change` merged into it. */
  change(base: string, change: Content, options: Particulars & { readonly name?: string } = {}): RequestStep {
    const { name = `$(${base}.metadata.name)`, ...particulars } = options;
    return this.put(name, change, { ...particulars, base });
  }

  merge(name: string, body: unknown, options: Particulars = {}): RequestStep {
    return this.patch(name, MERGE_TYPE, { body, ...options });
  }

  json(name: string, body: unknown, options: Particulars = {}): RequestStep {
    return this.patch(name, JSON_PATCH_TYPE, { body, ...options });
  }

  /** Applies an object with this name, with a field manager. */
  apply(name: string, content: Content, options: Particulars & { readonly by?: string } = {}): RequestStep {
    const { by = "one", query, ...particulars } = options;
    const asked = query === undefined ? `fieldManager=${by}` : `fieldManager=${by}&${query}`;
    return this.patch(name, APPLY_TYPE, { body: this.of(name, content), ...particulars, query: asked });
  }

  patch(name: string, type: string, options: Particulars & { readonly body?: unknown }): RequestStep {
    const headers = { "content-type": type, ...options.headers };
    return this.#request("PATCH", this.path(name, options), { ...options, headers });
  }

  /** Sends any method, with a body that does not need to be JSON. */
  raw(send: string, { type, text, fill }: Raw): RequestStep {
    return { send, headers: { "content-type": type }, ...(fill === undefined ? { text: text ?? "" } : { fill }) };
  }

  /** Deletes an object, with DeleteOptions in the body if they are given. */
  delete(name: string, body?: unknown, options: Particulars = {}): RequestStep {
    const given = body === undefined ? {} : { body: { apiVersion: "v1", kind: "DeleteOptions", ...(body as object) } };
    return this.#request("DELETE", this.path(name, options), { ...given, ...options });
  }

  deleteAll(query?: string, body?: unknown): RequestStep {
    return this.delete("", body, query === undefined ? {} : { query });
  }

  watch(query: string, { as = "w", ...options }: Particulars = {}): WatchStep {
    const asked = `watch=true&timeoutSeconds=5${query === "" ? "" : `&${query}`}`;
    const { headers } = options;
    return { watch: this.path("", { ...options, query: asked }), as, ...(headers === undefined ? {} : { headers }) };
  }

  #request(method: string, path: string, options: Particulars & { readonly body?: unknown }): RequestStep {
    const { headers, body, base, as } = options;
    return {
      send: `${method} ${path}`,
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
      ...(base === undefined ? {} : { base }),
      ...(as === undefined ? {} : { as }),
    };
  }
}
