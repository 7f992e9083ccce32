import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Encoded } from "../encoded.ts";

/** Objects by `<logical cluster>/<namespace>/<name>`, in that order. */
export interface Objects {
  readonly size: number;
  /** By the whole key. */
  get(key: string): Encoded | undefined;
  /** In order, from the first key that is not below `from`. */
  entries(from?: string): Iterable<[string, Encoded]>;
  /** The same without the keys. */
  values(from?: string): Iterable<Encoded>;
}

/** Objects order by logical cluster, namespace and name, as Kubernetes orders them by storage key. */
export function cacheKey(key: ObjectKey): string {
  return `${key.cluster}/${key.namespace}/${key.name}`;
}

/**
 * The objects of a logical cluster and namespace ("" for all of either), in order, behind the key `after`. Reads no
 * others, but those of other namespaces when asked for one namespace of all clusters.
 */
export function* objectsIn(objects: Objects, place: Omit<ObjectKey, "name">, after = ""): Generator<Encoded> {
  const prefix = prefixOf(place);
  for (const [key, object] of objects.entries(after > prefix ? after : prefix)) {
    if (!key.startsWith(prefix)) return;
    if (key !== after && (place.namespace === "" || object.key.namespace === place.namespace)) yield object;
  }
}

function prefixOf({ cluster, namespace }: Omit<ObjectKey, "name">): string {
  if (cluster === "") return "";
  return namespace === "" ? `${cluster}/` : `${cluster}/${namespace}/`;
}
