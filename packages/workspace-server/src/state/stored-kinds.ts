import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import { Converted, type ResourceDefinition, type ServedResource } from "@virtual-workspaces/framework";
import type { PersistentCollection } from "@virtual-workspaces/store";
import type { Writable } from "./modify.ts";

/** What is done with the objects of a kind in a store. */
export type StoredObjects = Writable<object> & Pick<PersistentCollection, "objectsIn" | "space">;

/** A kind that is served in a logical cluster, and where its objects are. */
export interface StoredKind {
  /** As it is kept. */
  readonly definition: ResourceDefinition;
  readonly objects: StoredObjects;
  /** Whether clients may delete objects of it. */
  readonly deletable: boolean;
}

/** The kinds of a logical cluster: each once, whatever it is served as. */
export class StoredKinds {
  readonly all: readonly StoredKind[];
  readonly #bySpace: ReadonlyMap<string, StoredKind>;
  readonly #byType: ReadonlyMap<string, StoredKind>;

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
    }
    this.all = [...bySpace.values()];
    this.#bySpace = bySpace;
    this.#byType = byType;
  }

  /** By what keys in the store begin with. */
  in(space: string): StoredKind | undefined {
    return this.#bySpace.get(space);
  }

  /** As objects name their kind, in any version that is served. */
  of(apiVersion: string, kind: string): StoredKind | undefined {
    return this.#byType.get(typeOf(apiVersion, kind));
  }
}

/** The kinds of each logical cluster: those of equal ones are worked out once, and kept as long as what is served is. */
export class KindsOfClusters {
  readonly #servedIn: (cluster: string) => readonly ServedResource[];
  readonly #known = new WeakMap<readonly ServedResource[], StoredKinds>();

  constructor(servedIn: (cluster: string) => readonly ServedResource[]) {
    this.#servedIn = servedIn;
  }

  /** @throws ApiError 503 when it is not known yet */
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

/** Where objects are kept that are served in whichever version; `undefined` of what is not kept, as reviews are not. */
function storedObjects(storage: object): StoredObjects | undefined {
  let below: object = storage;
  while (below instanceof Converted) below = below.from;
  return "objectsIn" in below && "space" in below ? (below as StoredObjects) : undefined;
}
