import {
  FOREGROUND_FINALIZER,
  type ObjectMeta,
  ORPHAN_FINALIZER,
  type OwnerReference,
} from "@virtual-workspaces/apimachinery";
import type { StoredObject, StoredPlace } from "@virtual-workspaces/store";
import { keyText } from "../state/informers/key-index.ts";

/** Deletion policy of an object that waits: for the deletion of its dependents, or for their release. */
export type Waits = "foreground" | "orphan";

/** Immutable record of an object that has owners or waits for its dependents. */
export interface Node extends StoredPlace {
  /** Id of its place. */
  readonly id: string;
  readonly uid: string;
  readonly references: readonly OwnerReference[];
  readonly waits: Waits | undefined;
}

/** Owner as referenced by dependents of one namespace, whether or not it exists. */
export interface Owner {
  readonly id: string;
  readonly cluster: string;
  /** Namespace of the dependents. */
  readonly namespace: string;
  readonly reference: OwnerReference;
  /** Ids of the objects that reference it. */
  readonly dependents: Set<string>;
  /** Id of its place, whether or not it exists; `undefined` while its kind is unknown, and if no place is possible. */
  place: string | undefined;
  /** Whether it was found missing; this is final, since uids are never reused. */
  isAbsent: boolean;
}

/** Returns the id of a place in a store. */
export function placeId({ space, key }: StoredPlace): string {
  return `${space}|${keyText(key)}`;
}

const NOBODY: ReadonlySet<Owner> = new Set();

/**
 * Owner references of all logical clusters (Kubernetes' dependency graph); no reference crosses logical clusters. It
 * keeps only objects with owners, and those owners, in memory: about 1,000 bytes for both.
 */
export class Graph {
  readonly #nodes = new Map<string, Node>();
  readonly #owners = new Map<string, Owner>();
  /** Owners by the id of their place, whether or not they exist. */
  readonly #placed = new Map<string, Set<Owner>>();
  /** Owners by the UID in their reference. */
  readonly #named = new Map<string, Set<Owner>>();
  /** Owners with a kind that is unknown in their logical cluster, by logical cluster. */
  readonly #homeless = new Map<string, Set<Owner>>();
  readonly #place: (owner: Owner) => string | "unknown" | undefined;

  /** @param place returns an owner's place; `unknown` while its kind is unknown, `undefined` if no place is possible */
  constructor(place: (owner: Owner) => string | "unknown" | undefined) {
    this.#place = place;
  }

  node(id: string): Node | undefined {
    return this.#nodes.get(id);
  }

  owner(id: string): Owner | undefined {
    return this.#owners.get(id);
  }

  /** Ids of all objects in the graph. */
  ids(): Iterable<string> {
    return this.#nodes.keys();
  }

  owners(): Iterable<Owner> {
    return this.#owners.values();
  }

  /** Number of objects and owners in memory. */
  get size(): number {
    return this.#nodes.size + this.#owners.size;
  }

  /** Returns the owners with a place, whether or not they exist. */
  ownersAt(id: string): ReadonlySet<Owner> {
    return this.#placed.get(id) ?? NOBODY;
  }

  /** Returns the owners with a UID: those of other namespaces, and those with another kind or name, are other owners. */
  ownersWith(uid: string): ReadonlySet<Owner> {
    return this.#named.get(uid) ?? NOBODY;
  }

  /** Returns the owners of a logical cluster whose kind is unknown there. */
  homelessIn(cluster: string): readonly Owner[] {
    return [...(this.#homeless.get(cluster) ?? NOBODY)];
  }

  /** Returns the owners that an object references. */
  ownersOf(node: Node): Owner[] {
    const ids = node.references.map((reference) => ownerId(node, reference));
    return ids.flatMap((id) => this.#owners.get(id) ?? []);
  }

  /** Returns the objects that an object owns. */
  dependentsOf({ id, uid }: Pick<Node, "id" | "uid">): Node[] {
    const found = new Set<Node>();
    for (const { reference, dependents } of this.ownersAt(id)) {
      if (reference.uid !== uid) continue;
      for (const dependent of dependents) found.add(this.#nodes.get(dependent) as Node);
    }
    return [...found];
  }

  /** Adds or replaces an object. @returns the owners that no other object of its namespace references */
  set(node: Node): Owner[] {
    const added = node.references.flatMap((reference) => this.#link(node, reference) ?? []);
    const before = this.#nodes.get(node.id);
    this.#nodes.set(node.id, node);
    const named = new Set(node.references.map((reference) => ownerId(node, reference)));
    if (before !== undefined) this.#unlink(before, named);
    return added;
  }

  delete(id: string): void {
    const node = this.#nodes.get(id);
    if (node === undefined) return;
    this.#nodes.delete(id);
    this.#unlink(node, new Set());
  }

  /** Determines the place of an owner again. @returns whether its kind is known now */
  resolve(owner: Owner): boolean {
    const place = this.#place(owner);
    if (place === "unknown") {
      add(this.#homeless, owner.cluster, owner);
      return false;
    }
    take(this.#homeless, owner.cluster, owner);
    owner.place = place;
    if (place !== undefined) add(this.#placed, place, owner);
    return true;
  }

  #link(node: Node, reference: OwnerReference): Owner | undefined {
    const id = ownerId(node, reference);
    const known = this.#owners.get(id);
    if (known !== undefined) {
      known.dependents.add(node.id);
      return undefined;
    }
    const { cluster, namespace } = node.key;
    const dependents = new Set([node.id]);
    const owner: Owner = { id, cluster, namespace, reference, dependents, place: undefined, isAbsent: false };
    this.#owners.set(id, owner);
    add(this.#named, reference.uid, owner);
    this.resolve(owner);
    return owner;
  }

  #unlink(node: Node, but: ReadonlySet<string>): void {
    for (const reference of node.references) {
      const owner = this.#owners.get(ownerId(node, reference));
      if (owner === undefined || but.has(owner.id)) continue;
      owner.dependents.delete(node.id);
      if (owner.dependents.size > 0) continue;
      this.#owners.delete(owner.id);
      take(this.#named, reference.uid, owner);
      take(this.#homeless, owner.cluster, owner);
      if (owner.place !== undefined) take(this.#placed, owner.place, owner);
    }
  }
}

/** Returns the id of an owner that an object references. */
export function ownerId({ key }: Pick<Node, "key">, { apiVersion, kind, name, uid }: OwnerReference): string {
  return [key.cluster, key.namespace, apiVersion, kind, name, uid].join("|");
}

function add(sets: Map<string, Set<Owner>>, name: string, owner: Owner): void {
  const there = sets.get(name);
  if (there === undefined) sets.set(name, new Set([owner]));
  else there.add(owner);
}

function take(sets: Map<string, Set<Owner>>, name: string, owner: Owner): void {
  const there = sets.get(name);
  there?.delete(owner);
  if (there?.size === 0) sets.delete(name);
}

/** Byte sequences, of which every object that matters to garbage collection contains at least one. */
const MARKS = ['"ownerReferences"', `"${FOREGROUND_FINALIZER}"`, `"${ORPHAN_FINALIZER}"`].map((text) =>
  Buffer.from(text),
);

/** Parses an object for the graph; `undefined`, without parsing, if it has no owners and does not wait for dependents. */
export function readNode(object: StoredObject): Node | undefined {
  const { space, key, bytes } = object;
  if (!MARKS.some((mark) => bytes.includes(mark))) return undefined;
  const { metadata } = JSON.parse(bytes.toString()) as { readonly metadata: ObjectMeta };
  const references = metadata.ownerReferences ?? [];
  const waits = waitsOf(metadata);
  if (references.length === 0 && waits === undefined) return undefined;
  return { id: placeId(object), space, key, uid: metadata.uid ?? "", references, waits };
}

/** Returns what an object waits for before it is deleted. */
export function waitsOf({ deletionTimestamp, finalizers = [] }: ObjectMeta): Waits | undefined {
  if (deletionTimestamp === undefined) return undefined;
  if (finalizers.includes(FOREGROUND_FINALIZER)) return "foreground";
  return finalizers.includes(ORPHAN_FINALIZER) ? "orphan" : undefined;
}
