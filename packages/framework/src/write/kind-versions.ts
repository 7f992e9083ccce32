import { apiVersionOf, type JsonSchema, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";

/** A version of a kind that is made of another. Both ways throw an `ApiError` when there is none. */
export interface KindVersion {
  readonly definition: ResourceDefinition;
  /** What it is made of: the version that is kept, or one that is made itself. */
  readonly of: ResourceDefinition;
  /** Makes it of that. */
  readonly read: (object: KubeObject) => KubeObject;
  /** The way back. */
  readonly write: (object: KubeObject) => KubeObject;
}

/** What is made of all versions of a kind, once for as long as there are no more: they may be added when it is served already. */
export function perVersions<R>(versions: KindVersions | undefined, make: () => R): () => R {
  let made: { readonly result: R; readonly size: number } | undefined;
  return () => {
    const size = versions?.size ?? 0;
    if (made?.size !== size) made = { result: make(), size };
    return made.result;
  };
}

/** The versions of a kind: the one that its objects are kept in, and those that are served besides. */
export class KindVersions {
  readonly #kept: ResourceDefinition;
  readonly #others = new Map<string, KindVersion>();

  constructor(kept: ResourceDefinition) {
    this.#kept = kept;
  }

  /** How many there are besides the one that is kept. */
  get size(): number {
    return this.#others.size;
  }

  /** @throws Error when there is one of that name */
  add(version: KindVersion): void {
    const apiVersion = apiVersionOf(version.definition);
    if (this.#others.has(apiVersion) || apiVersion === apiVersionOf(this.#kept))
      throw new Error(`${version.definition.plural}: there is a version ${apiVersion} already`);
    this.#others.set(apiVersion, version);
  }

  /** All of them. */
  get definitions(): readonly ResourceDefinition[] {
    return [this.#kept, ...Array.from(this.#others.values(), ({ definition }) => definition)];
  }

  /** The schemas of all versions but one. */
  schemasBeside(apiVersion: string): ReadonlyMap<string, JsonSchema> {
    const entries = this.definitions.map((definition) => [apiVersionOf(definition), definition.schema] as const);
    return new Map(entries.filter(([version]) => version !== apiVersion));
  }

  /** An object in another version. @throws ApiError what the conversion throws */
  convert(object: KubeObject, apiVersion: string): KubeObject {
    return this.#made(this.#asKept(object), apiVersion);
  }

  #asKept(object: KubeObject): KubeObject {
    const version = this.#others.get(object.apiVersion);
    return version === undefined ? object : this.#asKept(version.write(object));
  }

  #made(kept: KubeObject, apiVersion: string): KubeObject {
    const version = this.#others.get(apiVersion);
    return version === undefined ? kept : version.read(this.#made(kept, apiVersionOf(version.of)));
  }
}
