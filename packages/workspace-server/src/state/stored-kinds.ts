import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import {
  Converted,
  type ResourceDefinition,
  type ServedResource,
  type ViewSource,
} from "@virtual-workspaces/framework";
import type { PersistentCollection } from "@virtual-workspaces/store";
import { isCustomSpace } from "./key-spaces.ts";
import type { Writable } from "./modify.ts";

/** Operations on the stored objects of a kind. */
export type StoredObjects = Writable<object> & Pick<PersistentCollection, "objectsIn" | "countIn" | "space">;

/** A kind served in a logical cluster, with its storage. */
export interface StoredKind {
  /** Definition as stored. */
  readonly definition: ResourceDefinition;
  readonly objects: StoredObjects;
  /** Whether clients may delete its objects. */
  readonly deletable: boolean;
}

/** A resource in one of its versions. */
export interface StoredResource {
  readonly group: string;
  /** "" for the stored version. */
  readonly version: string;
  readonly resource: string;
}

/** Kinds of a logical cluster, each once, whatever its served versions. */
export class StoredKinds {
  readonly all: readonly StoredKind[];
  readonly #bySpace: ReadonlyMap<string, StoredKind>;
  readonly #byType: ReadonlyMap<string, StoredKind>;
  readonly #byResource = new Map<string, StoredKind>();
  readonly #sources = new Map<string, ViewSource>();

  constructor(served: readonly ServedResource[]) {
    const bySpace = new Map<string, StoredKind>();
    const byType = new Map<string, StoredKind>();
    for (const { definition, storage, verbs } of served) {
      const objects = storedObjects(storage);
      if (objects === undefined) continue;
      const before = bySpace.get(objects.space);
      const deletable = before?.deletable === true || verbs.includes("delete");
      const kind = { definition: objects.resource, objects, deletable };
      bySpace.set(objects.space, kind);
      byType.set(typeOf(apiVersionOf(definition), definition.kind), kind);
      this.#sources.set(typeOf(apiVersionOf(definition), definition.kind), storage as unknown as ViewSource);
    }
    this.all = [...bySpace.values()];
    for (const kind of this.all) {
      const resource = `${kind.definition.plural}.${kind.definition.group}`;
      if (!this.#byResource.has(resource)) this.#byResource.set(resource, kind);
    }
    this.#bySpace = bySpace;
    this.#byType = byType;
  }

  /** Returns the kind of a key space in the store. */
  in(space: string): StoredKind | undefined {
    return this.#bySpace.get(space);
  }

  /** Returns the kind of a resource, `<plural>.<group>`. */
  named(resource: string): StoredKind | undefined {
    return this.#byResource.get(resource);
  }

  /** Returns the objects of a resource, in a served version, that users have defined or bound; `undefined` if there is none. */
  custom({ group, version, resource }: StoredResource): ViewSource | undefined {
    const found = this.named(`${resource}.${group}`);
    if (found === undefined || !isCustomSpace(found.objects.space)) return undefined;
    const { kind, version: stored } = found.definition;
    return this.#sources.get(typeOf(apiVersionOf({ group, version: version || stored }), kind));
  }

  /** Returns the kind that an object names, in any served version. */
  of(apiVersion: string, kind: string): StoredKind | undefined {
    return this.#byType.get(typeOf(apiVersion, kind));
  }
}

/** Kinds of each logical cluster, computed once for equal ones and cached while the served resources stay the same. */
export class KindsOfClusters {
  readonly #servedIn: (cluster: string) => readonly ServedResource[];
  readonly #known = new WeakMap<readonly ServedResource[], StoredKinds>();

  constructor(servedIn: (cluster: string) => readonly ServedResource[]) {
    this.#servedIn = servedIn;
  }

  /** @throws ApiError 503 while they are unknown */
  in(cluster: string): StoredKinds {
    const served = this.#servedIn(cluster);
    let kinds = this.#known.get(served);
    if (kinds === undefined) {
      kinds = new StoredKinds(served);
      this.#known.set(served, kinds);
    }
    return kinds;
  }
}

function typeOf(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** Returns the stored objects behind a storage of any version; `undefined` for resources that are not stored, such as reviews. */
function storedObjects(storage: object): StoredObjects | undefined {
  let below: object = storage;
  while (below instanceof Converted) below = below.from;
  return "objectsIn" in below && "space" in below ? (below as StoredObjects) : undefined;
}
