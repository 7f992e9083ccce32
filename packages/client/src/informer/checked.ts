import {
  apiVersionOf,
  CLUSTER_ANNOTATION,
  isJsonObject,
  type KindReference,
  type ObjectKey,
  type StoredObject,
  WILDCARD,
} from "@virtual-workspaces/apimachinery";
import type { ResourceList } from "../resource/list.ts";
import type { ResourceClient } from "../resource/resource-client.ts";

/** Validated object, with the metadata that an informer needs. */
export interface Checked<T> {
  readonly key: ObjectKey;
  readonly version: string;
  readonly object: StoredObject<T>;
}

/** Validates everything that a server sends: the server may be the wrong one, or broken. */
export class Checks<T extends object> {
  readonly #kind: KindReference<T>;
  readonly #apiVersion: string;
  readonly #listKind: string;
  readonly #cluster: string;
  readonly #namespace: string;

  constructor(resource: ResourceClient<T>, listKind = `${resource.kind.kind}List`) {
    this.#kind = resource.kind;
    this.#apiVersion = apiVersionOf(resource.kind);
    this.#listKind = listKind;
    this.#cluster = resource.cluster;
    this.#namespace = resource.namespace;
  }

  /** @throws UpstreamFault for an object of another kind or namespace, or without name or version */
  object(object: StoredObject<T>): Checked<T> {
    const version = this.version(object);
    const { name, namespace = "", annotations } = object.metadata;
    if (typeof name !== "string" || name === "") throw this.#fault("an object without a name");
    const { scope } = this.#kind;
    if (this.#namespace !== "" && scope === "Namespaced" && namespace !== this.#namespace)
      throw this.#fault(`an object of namespace ${JSON.stringify(namespace)}`);
    const cluster = this.#cluster === WILDCARD ? (annotations?.[CLUSTER_ANNOTATION] ?? "") : this.#cluster;
    return { key: { cluster, namespace, name }, version, object };
  }

  /** Returns the version of an object or bookmark. @throws UpstreamFault if its kind is wrong, or the version is missing */
  version(object: StoredObject<T>): string {
    if (!isJsonObject(object) || !isJsonObject(object.metadata)) throw this.#fault("what is no object");
    const { apiVersion, kind, metadata } = object;
    if (apiVersion !== this.#apiVersion || kind !== this.#kind.kind)
      throw this.#fault(`an object of kind ${JSON.stringify(kind)} in ${JSON.stringify(apiVersion)}`);
    return this.#version(metadata.resourceVersion, "an object");
  }

  /** Returns the version of a list. @throws UpstreamFault if its kind is wrong, or the version is missing */
  list(list: ResourceList<T>): string {
    const { apiVersion = this.#apiVersion, kind = this.#listKind, metadata, items } = list as ListOnTheWire;
    if (apiVersion !== this.#apiVersion || kind !== this.#listKind)
      throw this.#fault(`a list of kind ${JSON.stringify(kind)} in ${JSON.stringify(apiVersion)}`);
    if (!Array.isArray(items)) throw this.#fault("a list without items");
    return this.#version(metadata?.resourceVersion, "a list");
  }

  #version(version: unknown, of: string): string {
    if (typeof version === "string" && version !== "") return version;
    throw this.#fault(`${of} without a resourceVersion`);
  }

  #fault(what: string): UpstreamFault {
    return new UpstreamFault(`${this.#kind.plural}: the server sent ${what} instead of ${this.#kind.kind} objects`);
  }
}

interface ListOnTheWire {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: { readonly resourceVersion?: unknown };
  readonly items?: unknown;
}

/** Invalid response of a server: another kind, no version, or an older state. The store ignores all of it, and the informer retries. */
export class UpstreamFault extends Error {
  override readonly name: string = "UpstreamFault";
}

/** List by watch that ended before it was complete. */
export class IncompleteStream extends UpstreamFault {
  override readonly name: string = "IncompleteStream";
}
