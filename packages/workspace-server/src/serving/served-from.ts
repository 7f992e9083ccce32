import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import type { ServedResource } from "@virtual-workspaces/framework";
import type { MetadataForm } from "@virtual-workspaces/framework/resource";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { ORIGINAL_API_VERSION_ANNOTATION } from "@virtual-workspaces/kcp/names";

/**
 * Returns the same resource with some storage methods replaced. To watches the storage is a different one: a watch on the old
 * resource ends where the new one is served.
 */
export function servedFrom(served: ServedResource, replaced: Partial<Storage>): ServedResource {
  return Object.freeze({ ...served, storage: storageWith(served.storage, replaced) });
}

/** Returns the same storage with some methods replaced. */
export function storageWith<S extends object>(storage: S, replaced: Partial<S>): S {
  return new Proxy(storage, {
    get: (target, name) => {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Maps resources of a list, once for each resource and each list, so that streams are shared. */
export class ServedOnce {
  readonly #make: (served: ServedResource) => ServedResource;
  readonly #lists = new WeakMap<readonly ServedResource[], readonly ServedResource[]>();
  readonly #each = new WeakMap<ServedResource, ServedResource>();

  constructor(make: (served: ServedResource) => ServedResource) {
    this.#make = make;
  }

  of(list: readonly ServedResource[]): readonly ServedResource[] {
    const made = this.#lists.get(list) ?? list.map((served) => this.#once(served));
    this.#lists.set(list, made);
    return made;
  }

  #once(served: ServedResource): ServedResource {
    const made = this.#each.get(served) ?? this.#make(served);
    this.#each.set(served, made);
    return made;
  }
}

/**
 * Returns a resource as served over all logical clusters. For metadata-only clients an annotation names each object's stored
 * version, since the response has `meta.k8s.io/v1` for all.
 */
export function withOriginalVersion(served: ServedResource): ServedResource {
  return Object.freeze({ ...served, metadata: originalVersion(served) });
}

/** Kinds that exist in a second group use the version of the request. */
function originalVersion({ definition, storedAs }: ServedResource): MetadataForm {
  const kept = storedAs?.group === definition.group ? apiVersionOf(storedAs) : undefined;
  return {
    name: `${ORIGINAL_API_VERSION_ANNOTATION} ${kept ?? ""}`,
    of: ({ apiVersion, metadata }) => ({
      ...metadata,
      annotations: { ...metadata.annotations, [ORIGINAL_API_VERSION_ANNOTATION]: kept ?? apiVersion },
    }),
  };
}
