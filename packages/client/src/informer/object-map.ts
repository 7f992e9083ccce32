import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/**
 * Map with one value per object, by cluster, namespace and name. To save memory, it stores only names, and each cluster and
 * namespace once.
 */
export class ObjectMap<V> {
  readonly #places = new Map<string, NamespacePart<V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ cluster, namespace, name }: ObjectKey): V | undefined {
    return this.#places.get(`${cluster}\n${namespace}`)?.values.get(name);
  }

  set({ cluster, namespace, name }: ObjectKey, value: V): void {
    const at = `${cluster}\n${namespace}`;
    let place = this.#places.get(at);
    if (place === undefined) {
      place = { cluster, namespace, values: new Map() };
      this.#places.set(at, place);
    }
    const before = place.values.size;
    place.values.set(name, value);
    this.#size += place.values.size - before;
  }

  delete({ cluster, namespace, name }: ObjectKey): void {
    const at = `${cluster}\n${namespace}`;
    const place = this.#places.get(at);
    if (place?.values.delete(name) !== true) return;
    this.#size -= 1;
    if (place.values.size === 0) this.#places.delete(at);
  }

  /** All values, or those of a cluster, a namespace, or both. */
  *entries(part: Partial<Omit<ObjectKey, "name">> = {}): Generator<readonly [ObjectKey, V]> {
    for (const { cluster, namespace, values } of this.#of(part))
      for (const [name, value] of values) yield [{ cluster, namespace, name }, value];
  }

  *#of({ cluster, namespace }: Partial<Omit<ObjectKey, "name">>): Generator<NamespacePart<V>> {
    if (cluster !== undefined && namespace !== undefined) {
      const place = this.#places.get(`${cluster}\n${namespace}`);
      if (place !== undefined) yield place;
      return;
    }
    for (const place of this.#places.values())
      if ((cluster ?? place.cluster) === place.cluster && (namespace ?? place.namespace) === place.namespace)
        yield place;
  }
}

interface NamespacePart<V> {
  readonly cluster: string;
  readonly namespace: string;
  readonly values: Map<string, V>;
}
