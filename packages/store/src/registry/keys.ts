import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { KeyRange, Store } from "../store.ts";

/** Number of keys in a transaction: the store's maximum. */
const AT_ONCE = 128;

/**
 * Keys of a kind's objects, for all versions: `<group>/<plural>/<logical cluster>/<namespace>/<name>`, or in a key space of
 * their own `@<key space>/<logical cluster>/…`, because no group begins with `@`.
 */
export class ObjectKeys {
  readonly #kind: string;

  /** @throws RangeError for an invalid key space */
  constructor({ group, plural }: ResourceDefinition, keySpace?: string) {
    this.#kind = keySpace === undefined ? `${group}/${plural}/` : spaceOf(keySpace);
  }

  /** Common prefix of all keys, without the slash. */
  get space(): string {
    return this.#kind.slice(0, -1);
  }

  /** Range of the whole kind. */
  get all(): KeyRange {
    return below(this.#kind);
  }

  of({ cluster, namespace, name }: ObjectKey): string {
    return `${this.#kind}${cluster}/${namespace}/${name}`;
  }

  /** Returns the range of a logical cluster and namespace, where "" is a value of its own. */
  within({ cluster, namespace }: Omit<ObjectKey, "name">): KeyRange {
    return below(`${this.#kind}${cluster}/${namespace}/`);
  }

  /** Returns the range of a logical cluster and namespace ("" for all) after `after`, which is a key without the kind. */
  behind({ cluster, namespace }: Omit<ObjectKey, "name">, after: string): KeyRange {
    const place = cluster === "" ? "" : namespace === "" ? `${cluster}/` : `${cluster}/${namespace}/`;
    const { from, to } = below(this.#kind + place);
    return { from: after !== "" && after.startsWith(place) ? `${this.#kind}${after}\0` : from, to };
  }

  /** Parses a key of {@link of}: no part contains a slash. */
  parse(key: string): ObjectKey {
    const [cluster = "", namespace = "", name = ""] = key.slice(this.#kind.length).split("/");
    return { cluster, namespace, name };
  }
}

/** Keys of all key spaces with a common prefix. */
export class KeySpaceKeys {
  /** Range of all of them. */
  readonly all: KeyRange;

  /** @throws RangeError if no name can begin with the prefix */
  constructor(prefix: string) {
    if (!/^[a-z0-9][-a-z0-9.]{0,251}$/.test(prefix))
      throw new RangeError(`invalid keySpaces ${JSON.stringify(prefix)}: use a prefix of key space names`);
    this.all = spacesFrom(prefix);
  }

  /** Parses a key. Objects of one name in two key spaces have the same result. */
  parse(text: string): ObjectKey {
    const [, cluster = "", namespace = "", name = ""] = text.split("/");
    return { cluster, namespace, name };
  }
}

/** Returns the range of key spaces with a prefix. Names are ASCII, which bounds it. */
function spacesFrom(prefix: string): KeyRange {
  return { from: `@${prefix}`, to: `@${prefix}\u007f` };
}

/** Returns the prefix of the keys of a key space. @throws RangeError if the name is invalid */
function spaceOf(keySpace: string): string {
  if (/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(keySpace)) return `@${keySpace}/`;
  const must = "use up to 253 lower-case letters, digits, dots and dashes, with a letter or digit at both ends";
  throw new RangeError(`invalid keySpace ${JSON.stringify(keySpace)}: ${must}`);
}

/** Returns the range of keys with a prefix that ends with a slash: "0" follows it. */
function below(prefix: string): KeyRange {
  return { from: prefix, to: `${prefix.slice(0, -1)}0` };
}

/** Parses a key of an object, whatever its kind and key space; `undefined` for other keys. */
export function parseStoredKey(text: string): { readonly space: string; readonly key: ObjectKey } | undefined {
  const parts = text.split("/");
  const inSpace = text.startsWith("@");
  if (parts.length !== (inSpace ? 4 : 5)) return undefined;
  const space = parts.splice(0, inSpace ? 1 : 2).join("/");
  const [cluster = "", namespace = "", name = ""] = parts;
  return { space, key: { cluster, namespace, name } };
}

/**
 * Deletes all objects of a key space (`PersistentOptions.keySpace`), without authorization and despite finalizers. Watches
 * receive the deletions. Concurrent writes may survive, so stop writers first. Idempotent.
 *
 * @returns the number of deleted objects
 * @throws RangeError for an invalid key space; StoreError
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
 * Lists the non-empty key spaces with a prefix, in the order of their keys, with one read of the store for each.
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
