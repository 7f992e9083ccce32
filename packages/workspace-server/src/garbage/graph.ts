import {
  FOREGROUND_FINALIZER,
  type ObjectMeta,
  ORPHAN_FINALIZER,
  type OwnerReference,
} from "@virtual-workspaces/apimachinery";
import type { StoredObject, StoredPlace } from "@virtual-workspaces/store";
import { keyText } from "../state/informers/key-index.ts";

/** What an object that is being deleted waits for: that its dependents are deleted, or let go. */
export type Waits = "foreground" | "orphan";

/** An object that has owners, or waits for its dependents. Never changed: another takes its place. */
export interface Node extends StoredPlace {
  /** Of its place. */
  readonly id: string;
  readonly uid: string;
  readonly references: readonly OwnerReference[];
  readonly waits: Waits | undefined;
}

/** An owner as dependents of one namespace name it, whether or not there is one. */
export interface Owner {
  readonly id: string;
  readonly cluster: string;
  /** Of its dependents. */
  readonly namespace: string;
  readonly reference: OwnerReference;
  /** The ids of the objects that name it. */
  readonly dependents: Set<string>;
  /** The id of the place where it is, or would be; `undefined` while its kind is not known, and where it can be nowhere. */
  place: string | undefined;
  /** It was seen to be gone: its uid does not come back. */
  isAbsent: boolean;
}

/** The id of a place in a store. */
export function placeId({ space, key }: StoredPlace): string {
  return `${space}|${keyText(key)}`;
}

const NOBODY: ReadonlySet<Owner> = new Set();

/**
 * Who owns whom (Kubernetes' dependency graph), of all logical clusters, none of which ever meets another here. In memory are
 * the objects with owners and the owners that they name, some 1,000 bytes for both; nothing else.
 */
export class Graph {
  readonly #nodes = new Map<string, Node>();
  readonly #owners = new Map<string, Owner>();
  /** By the place where they are, or would be. */
  readonly #placed = new Map<string, Set<Owner>>();
  /** By logical cluster: those whose kind is not known there. */
  readonly #homeless = new Map<string, Set<Owner>>();
  readonly #place: (owner: Owner) => string | "unknown" | undefined;

  /** @param place where an owner would be; `unknown` while its kind is not known, `undefined` where it can be nowhere */
  constructor(place: (owner: Owner) => string | "unknown" | undefined) {
    this.#place = place;
  }

  node(id: string): Node | undefined {
    return this.#nodes.get(id);
  }

  owner(id: string): Owner | undefined {
    return this.#owners.get(id);
  }

  /** The ids of all objects that are kept. */
  ids(): Iterable<string> {
    return this.#nodes.keys();
  }

  owners(): Iterable<Owner> {
    return this.#owners.values();
  }

  /** How many objects and owners are in memory. */
  get size(): number {
    return this.#nodes.size + this.#owners.size;
  }

  /** Those that are, or would be, at a place. */
  ownersAt(id: string): ReadonlySet<Owner> {
    return this.#placed.get(id) ?? NOBODY;
  }

  /** Those of a logical cluster whose kind is not known there. */
  homelessIn(cluster: string): readonly Owner[] {
    return [...(this.#homeless.get(cluster) ?? NOBODY)];
  }

  /** The owners that an object names. */
  ownersOf(node: Node): Owner[] {
    const ids = node.references.map((reference) => ownerId(node, reference));
    return ids.flatMap((id) => this.#owners.get(id) ?? []);
  }

  /** The objects that an object owns. */
  dependentsOf({ id, uid }: Pick<Node, "id" | "uid">): Node[] {
    const found = new Set<Node>();
    for (const { reference, dependents } of this.ownersAt(id)) {
      if (reference.uid !== uid) continue;
      for (const dependent of dependents) found.add(this.#nodes.get(dependent) as Node);
    }
    return [...found];
  }

  /** Puts an object into its place. @returns the owners that nobody of its namespace has named before */
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

  /** Looks anew where an owner would be. @returns whether its kind is known now */
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
      take(this.#homeless, owner.cluster, owner);
      if (owner.place !== undefined) take(this.#placed, owner.place, owner);
    }
  }
}

/** Of whom an object speaks. */
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

/** One of these is in the bytes of every object that the garbage collector has to do with. */
const MARKS = ['"ownerReferences"', `"${FOREGROUND_FINALIZER}"`, `"${ORPHAN_FINALIZER}"`].map((text) =>
  Buffer.from(text),
);

/** An object as the graph has it; `undefined` of one that has no owners and waits for no dependents, which is not parsed. */
export function readNode(object: StoredObject): Node | undefined {
  const { space, key, bytes } = object;
  if (!MARKS.some((mark) => bytes.includes(mark))) return undefined;
  const { metadata } = JSON.parse(bytes.toString()) as { readonly metadata: ObjectMeta };
  const references = metadata.ownerReferences ?? [];
  const waits = waitsOf(metadata);
  if (references.length === 0 && waits === undefined) return undefined;
  return { id: placeId(object), space, key, uid: metadata.uid ?? "", references, waits };
}

/** What an object waits for before it goes. */
export function waitsOf({ deletionTimestamp, finalizers = [] }: ObjectMeta): Waits | undefined {
  if (deletionTimestamp === undefined) return undefined;
  if (finalizers.includes(FOREGROUND_FINALIZER)) return "foreground";
  return finalizers.includes(ORPHAN_FINALIZER) ? "orphan" : undefined;
}
