import { apiVersionOf } from "@virtual-workspaces/apimachinery";
import type { ServedResource } from "@virtual-workspaces/framework";
import type { MetadataForm } from "@virtual-workspaces/framework/resource";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { ORIGINAL_API_VERSION_ANNOTATION } from "@virtual-workspaces/kcp/names";

/**
 * The same resource from another storage: what is not said anew is asked of the one it has. For watches it is another: one
 * that was opened on the first ends where the second is served.
 */
export function servedFrom(served: ServedResource, anew: Partial<Storage>): ServedResource {
  const storage = new Proxy(served.storage, {
    get: (target, name) => {
      if (Object.hasOwn(anew, name)) return Reflect.get(anew, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return Object.freeze({ ...served, storage });
}

/** What is made of each resource of a list: once of each, and of each list, so that streams are shared. */
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
 * A resource as it is served over all logical clusters: who asks for metadata alone is told in an annotation in which version
 * each object is kept, since the answer says `meta.k8s.io/v1` of all of them.
 */
export function withOriginalVersion(served: ServedResource): ServedResource {
  return Object.freeze({ ...served, metadata: originalVersion(served) });
}

/** Kinds that have another group besides are of that which was asked for. */
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
