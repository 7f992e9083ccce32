import type { Store } from "../store.ts";
import { below, spaceOf, spacesFrom } from "./keys.ts";

/** How many keys go in one transaction: as many as a store takes. */
const AT_ONCE = 128;

/**
 * Forgets all objects of a key space (`PersistentOptions.keySpace`), whatever holds them: nobody is asked and no finalizer
 * waited for. Watches see them go. What is written meanwhile may stay: see first that nobody writes any more. Doing it
 * again does nothing.
 *
 * @returns how many there were
 * @throws RangeError on a malformed key space; StoreError
 */
export async function removeKeySpace(
  store: Store,
  keySpace: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<number> {
  const range = below(spaceOf(keySpace));
  for (let removed = 0; ; ) {
    const { entries, more } = await store.range(range, { ...options, limit: AT_ONCE });
    if (entries.length === 0) return removed;
    const operations = entries.map(({ key }) => ({ type: "delete", key }) as const);
    await store.commit({ conditions: [], operations }, options);
    removed += entries.length;
    if (!more) return removed;
  }
}

/**
 * The key spaces that hold anything and whose names begin with `prefix`, in the order of their keys. One read of the store for each.
 *
 * @throws StoreError
 */
export async function* keySpaces(
  store: Store,
  prefix: string,
  options: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<string, void, undefined> {
  const { from: first, to } = spacesFrom(prefix);
  for (let from = first; ; ) {
    const { entries } = await store.range({ from, to }, { ...options, limit: 1 });
    const [entry] = entries;
    if (entry === undefined) return;
    const name = entry.key.slice(1, entry.key.indexOf("/"));
    yield name;
    from = below(spaceOf(name)).to;
  }
}
