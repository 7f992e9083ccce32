import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import type { KeyRange, Store } from "../store.ts";

/** How many keys go in one transaction: as many as a store takes. */
const AT_ONCE = 128;

/**
 * Where the objects of a kind are: `<group>/<plural>/<logical cluster>/<namespace>/<name>`, whatever their version, or, in a
 * key space of their own, `@<key space>/<logical cluster>/…`: no group begins so.
 */
export class ObjectKeys {
  readonly #kind: string;

  /** @throws RangeError on a key space of another form */
  constructor({ group, plural }: ResourceDefinition, keySpace?: string) {
    this.#kind = keySpace === undefined ? `${group}/${plural}/` : spaceOf(keySpace);
  }

  /** What all of them begin with, without the slash. */
  get space(): string {
    return this.#kind.slice(0, -1);
  }

  /** All of the kind. */
  get all(): KeyRange {
    return below(this.#kind);
  }

  of({ cluster, namespace, name }: ObjectKey): string {
    return `${this.#kind}${cluster}/${namespace}/${name}`;
  }

  /** Of one logical cluster and namespace, "" being one as well. */
  within({ cluster, namespace }: Omit<ObjectKey, "name">): KeyRange {
    return below(`${this.#kind}${cluster}/${namespace}/`);
  }

  /** Of a logical cluster and namespace, "" for all of either, behind `after`, the part of a key behind the kind. */
  behind({ cluster, namespace }: Omit<ObjectKey, "name">, after: string): KeyRange {
    const place = cluster === "" ? "" : namespace === "" ? `${cluster}/` : `${cluster}/${namespace}/`;
    const { from, to } = below(this.#kind + place);
    return { from: after !== "" && after.startsWith(place) ? `${this.#kind}${after}\0` : from, to };
  }

  /** What {@link of} made a key of: no part of it holds a slash. */
  parse(key: string): ObjectKey {
    const [cluster = "", namespace = "", name = ""] = key.slice(this.#kind.length).split("/");
    return { cluster, namespace, name };
  }
}

/** Where objects are in all key spaces whose names begin alike. */
export class KeySpaceKeys {
  /** All of them. */
  readonly all: KeyRange;

  /** @throws RangeError on what no name begins with */
  constructor(prefix: string) {
    if (!/^[a-z0-9][-a-z0-9.]{0,251}$/.test(prefix))
      throw new RangeError(`keySpaces is ${JSON.stringify(prefix)}: give what the names of key spaces begin with`);
    this.all = spacesFrom(prefix);
  }

  /** The same for objects of one name in two key spaces. */
  parse(text: string): ObjectKey {
    const [, cluster = "", namespace = "", name = ""] = text.split("/");
    return { cluster, namespace, name };
  }
}

/** Key spaces whose names begin so. What follows the last of them: names hold nothing beyond ASCII. */
function spacesFrom(prefix: string): KeyRange {
  return { from: `@${prefix}`, to: `@${prefix}\u007f` };
}

/** What the keys of a key space begin with. @throws RangeError when it is none */
function spaceOf(keySpace: string): string {
  if (/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(keySpace)) return `@${keySpace}/`;
  const must = "give up to 253 lower-case letters, digits, dots and dashes, a letter or digit at both ends";
  throw new RangeError(`keySpace is ${JSON.stringify(keySpace)}: ${must}`);
}

/** Keys that begin with `prefix`, which ends with a slash: "0" is what follows it. */
function below(prefix: string): KeyRange {
  return { from: prefix, to: `${prefix.slice(0, -1)}0` };
}

/** What {@link ObjectKeys.of} made a key of, and what it begins with; `undefined` of keys that are none of these. */
export function parseStoredKey(text: string): { readonly space: string; readonly key: ObjectKey } | undefined {
  const parts = text.split("/");
  const inSpace = text.startsWith("@");
  if (parts.length !== (inSpace ? 4 : 5)) return undefined;
  const space = parts.splice(0, inSpace ? 1 : 2).join("/");
  const [cluster = "", namespace = "", name = ""] = parts;
  return { space, key: { cluster, namespace, name } };
}

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
