import { isDeepStrictEqual } from "node:util";
import {
  FOREGROUND_FINALIZER,
  isApiError,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
  ORPHAN_FINALIZER,
  type OwnerReference,
} from "@virtual-workspaces/apimachinery";
import type { PropagationPolicy } from "@virtual-workspaces/apimachinery/requests";
import { decodeObject, type Encoded } from "@virtual-workspaces/framework/storage";
import { scopeOf } from "../state/informers/key-index.ts";
import { modify, removeWith } from "../state/modify.ts";
import type { KindsOfClusters, StoredObjects } from "../state/stored-kinds.ts";
import { type Graph, type Node, type Owner, ownerId, waitsOf } from "./graph.ts";

/** Number of dependents released concurrently. */
const AT_ONCE = 32;

/** Options of {@link DeletionAttempts}. */
export interface DeletionAttemptsOptions {
  readonly graph: Graph;
  readonly kinds: KindsOfClusters;
  /** Called for objects that need another pass. */
  readonly look: (node: Node) => void;
}

/** State of an owner: it exists, waits in foreground deletion, is missing, or has an unknown kind. */
type Standing = "solid" | "waiting" | "absent" | "unknown";

/** Garbage collection of one object at a time, by its state in the store. */
export class DeletionAttempts {
  readonly #options: DeletionAttemptsOptions;

  constructor(options: DeletionAttemptsOptions) {
    this.#options = options;
  }

  /** Reports whether an owner is missing; false if its kind is unknown. @throws ApiError 503 when the store cannot be read */
  async isAbsent(owner: Owner): Promise<boolean> {
    const { cluster, namespace, reference } = owner;
    owner.isAbsent ||= (await this.#standing({ cluster, namespace, name: "" }, reference)) === "absent";
    return owner.isAbsent;
  }

  /**
   * Deletes an object without owners, removes references to missing owners from others, and completes a foreground
   * deletion. @throws errors of the store; retry
   */
  async delete(node: Node): Promise<void> {
    const objects = this.#objectsOf(node);
    const latest = await read(objects, node.key);
    if (objects === undefined || latest === undefined || latest.metadata.uid !== node.uid) return;
    if (node.waits === "foreground") return this.#foreground(node, objects);
    if (latest.metadata.deletionTimestamp !== undefined) return;
    const references = latest.metadata.ownerReferences ?? [];
    const found: Record<Standing, OwnerReference[]> = { solid: [], waiting: [], absent: [], unknown: [] };
    for (const reference of references) found[await this.#standingFor(node, reference)].push(reference);
    // An owner of an unknown kind may exist, so the object stays.
    if (found.unknown.length > 0 || references.length === 0) return;
    const judged = ({ metadata }: KubeObject): boolean =>
      metadata.uid === node.uid && isDeepStrictEqual(metadata.ownerReferences ?? [], references);
    if (found.solid.length > 0) return this.#disown(node, new Set([...found.absent, ...found.waiting]), judged);
    let policy = policyOf(latest.metadata);
    const dependents = found.waiting.length > 0 ? this.#options.graph.dependentsOf(node) : [];
    if (dependents.length > 0) {
      // Its dependents wait for it while it waits for them: the cycle must be broken.
      if (dependents.some(({ waits }) => waits === "foreground")) await this.#unblock(node, objects);
      policy = "Foreground";
    }
    await removeWith(objects, node.key, {
      policy,
      judged: (object) => object.metadata.uid === node.uid && sameOwners(object.metadata, references),
    });
  }

  /** Removes the references to an owner from all its dependents, then its finalizer. @throws errors of the store; retry */
  async orphan(node: Node): Promise<void> {
    const objects = this.#objectsOf(node);
    if (objects === undefined) return;
    const dependents = this.#options.graph.dependentsOf(node);
    for (let at = 0; at < dependents.length; at += AT_ONCE)
      await Promise.all(dependents.slice(at, at + AT_ONCE).map((dependent) => this.#letGo(dependent, node.uid)));
    await release(objects, node, ORPHAN_FINALIZER);
  }

  async #foreground(node: Node, objects: StoredObjects): Promise<void> {
    const blocking = this.#blocking(node);
    if (blocking.length === 0) return release(objects, node, FOREGROUND_FINALIZER);
    for (const dependent of blocking) if (dependent.waits !== "foreground") this.#options.look(dependent);
    if (this.#isCircular(node)) await this.#unblock(node, objects);
  }

  /** Returns the dependents that block the deletion. */
  #blocking(node: Node): Node[] {
    return this.#options.graph
      .dependentsOf(node)
      .filter(({ id }) => id !== node.id)
      .filter(({ references }) => references.some((each) => each.uid === node.uid && each.blockOwnerDeletion === true));
  }

  /** Reports whether an object waits for itself, through other waiting objects. */
  #isCircular(node: Node): boolean {
    const seen = new Set<string>();
    for (let some = [node]; some.length > 0; ) {
      const next = some
        .flatMap((each) => this.#blocking(each))
        .filter(({ waits, id }) => waits === "foreground" && !seen.has(id));
      for (const { id } of next) seen.add(id);
      if (seen.has(node.id)) return true;
      some = next;
    }
    return false;
  }

  async #letGo(node: Node, owner: string): Promise<void> {
    const objects = this.#objectsOf(node);
    if (objects === undefined) return;
    await modify(objects, node.key, (object) =>
      object.metadata.uid === node.uid ? withOwners(object, ({ uid }) => uid !== owner) : undefined,
    );
  }

  async #disown(node: Node, gone: ReadonlySet<OwnerReference>, judged: (object: KubeObject) => boolean): Promise<void> {
    const objects = this.#objectsOf(node);
    if (objects === undefined || gone.size === 0) return;
    const uids = new Set([...gone].map((reference) => ownerId(node, reference)));
    await modify(objects, node.key, (object) =>
      judged(object) ? withOwners(object, (reference) => !uids.has(ownerId(node, reference))) : undefined,
    );
  }

  async #unblock(node: Node, objects: StoredObjects): Promise<void> {
    await modify(objects, node.key, (object) => {
      if (object.metadata.uid !== node.uid) return undefined;
      for (const reference of object.metadata.ownerReferences ?? [])
        if (reference.blockOwnerDeletion === true) reference.blockOwnerDeletion = false;
      return object;
    });
  }

  #objectsOf({ key, space }: Node): StoredObjects | undefined {
    return this.#options.kinds.in(key.cluster).in(space)?.objects;
  }

  async #standingFor(node: Node, reference: OwnerReference): Promise<Standing> {
    const owner = this.#options.graph.owner(ownerId(node, reference));
    if (owner?.isAbsent === true) return "absent";
    return this.#standing(node.key, reference);
  }

  /** Returns the state of an owner that is referenced in a logical cluster and namespace. */
  async #standing({ cluster, namespace }: ObjectKey, reference: OwnerReference): Promise<Standing> {
    const kind = this.#options.kinds.in(cluster).of(reference.apiVersion, reference.kind);
    if (kind === undefined) return "unknown";
    const isNamespaced = kind.definition.scope === "Namespaced";
    // The reference does not tell the owner's namespace.
    if (isNamespaced && namespace === "") return "solid";
    const owner = await read(kind.objects, { cluster, namespace: isNamespaced ? namespace : "", name: reference.name });
    if (owner?.metadata.uid !== reference.uid) return "absent";
    return waitsOf(owner.metadata) === "foreground" ? "waiting" : "solid";
  }
}

async function read(objects: StoredObjects | undefined, key: ObjectKey): Promise<KubeObject | undefined> {
  const encoded: Encoded | undefined = await objects?.get(scopeOf(key), key);
  if (encoded === undefined) return undefined;
  try {
    return decodeObject(encoded);
  } catch (error) {
    // The object exists but cannot be parsed.
    if (isApiError(error)) return { apiVersion: "", kind: "", metadata: { uid: encoded.uid } };
    throw error;
  }
}

async function release(objects: StoredObjects, { key, uid }: Node, finalizer: string): Promise<void> {
  await modify(objects, key, (object) => {
    const { metadata } = object;
    if (metadata.uid !== uid || metadata.deletionTimestamp === undefined) return undefined;
    metadata.finalizers = (metadata.finalizers ?? []).filter((each) => each !== finalizer);
    return object;
  });
}

function withOwners<T extends KubeObject>(object: T, isKept: (reference: OwnerReference) => boolean): T {
  const { ownerReferences = [], ...metadata } = object.metadata;
  const kept = ownerReferences.filter(isKept);
  return { ...object, metadata: kept.length === 0 ? metadata : { ...metadata, ownerReferences: kept } };
}

/** Returns the policy that the object's finalizers request. */
function policyOf({ finalizers = [] }: ObjectMeta): PropagationPolicy {
  if (finalizers.includes(ORPHAN_FINALIZER)) return "Orphan";
  return finalizers.includes(FOREGROUND_FINALIZER) ? "Foreground" : "Background";
}

/** Reports whether an object has the same owners, whatever their `blockOwnerDeletion`. */
function sameOwners({ ownerReferences = [] }: ObjectMeta, references: readonly OwnerReference[]): boolean {
  const uids = (list: readonly OwnerReference[]): string[] =>
    list.map(({ kind, name, uid }) => `${kind} ${name} ${uid}`);
  return isDeepStrictEqual(uids(ownerReferences), uids(references));
}
