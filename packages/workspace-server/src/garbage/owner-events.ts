import { createHash } from "node:crypto";
import { apiVersionOf, formatTime, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { CoreEvent } from "../kinds/event.ts";
import type { ShardContext } from "../state/context.ts";
import { scopeOf } from "../state/informers/key-index.ts";
import { ensure } from "../state/modify.ts";
import type { StoredKind } from "../state/stored-kinds.ts";
import type { Graph, Node, Owner } from "./graph.ts";

const COMPONENT = "garbage-collector-controller";
/** Namespace of events about cluster-scoped objects. */
const CLUSTER_EVENTS = "default";

/**
 * Writes Kubernetes' event `OwnerRefInvalidNamespace` about each object with an owner in another namespace. An owner reference
 * names no namespace, so that a dependent of such an owner is deleted although the owner exists. An owner with another kind or
 * name than in the reference is recognized by its UID if it has further dependents.
 */
export class OwnerEvents {
  readonly #context: ShardContext;
  readonly #graph: Graph;
  readonly #isAbsent: (owner: Owner) => Promise<boolean>;
  /** Owners that were looked for. */
  readonly #known = new WeakSet<Owner>();

  /** @param isAbsent reports whether an owner is missing */
  constructor(context: ShardContext, graph: Graph, isAbsent: (owner: Owner) => Promise<boolean>) {
    this.#context = context;
    this.#graph = graph;
    this.#isAbsent = isAbsent;
  }

  /**
   * Looks for an owner in the other namespaces of its logical cluster, once.
   *
   * @throws errors of the store; retry
   */
  async report(owner: Owner): Promise<void> {
    if (this.#known.has(owner)) return;
    const { namespace, reference, dependents } = owner;
    if ((await this.#isElsewhere(owner)) || (await this.#isOwnerElsewhere(owner))) {
      const { apiVersion, kind: type, name, uid } = reference;
      const identity = `[${apiVersion}/${type}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
      const message = `ownerRef ${identity} does not exist in namespace ${JSON.stringify(namespace)}`;
      for (const id of [...dependents]) await this.#write(this.#graph.node(id), { message, uid });
    }
    this.#known.add(owner);
  }

  /** Looks where other dependents say that it is, whatever kind and name this reference has. */
  async #isOwnerElsewhere({ cluster, namespace, reference: { uid } }: Owner): Promise<boolean> {
    for (const other of this.#graph.ownersWith(uid)) {
      if (other.cluster !== cluster || other.namespace === namespace || this.#namespaced(other) === undefined) continue;
      if (other.namespace !== "" && !(await this.#isAbsent(other))) return true;
    }
    return false;
  }

  /** Returns the kind in the reference, if it is known and has namespaces. */
  #namespaced({ cluster, reference: { apiVersion, kind } }: Owner): StoredKind | undefined {
    const found = this.#context.kinds.in(cluster).of(apiVersion, kind);
    return found?.definition.scope === "Namespaced" ? found : undefined;
  }

  /** Reads one object of each namespace, however many the kind has. */
  async #isElsewhere(owner: Owner): Promise<boolean> {
    const { cluster, reference } = owner;
    const { name, uid } = reference;
    const objects = this.#namespaced(owner)?.objects;
    if (objects === undefined) return false;
    await this.#context.objects.load(cluster);
    for (const { metadata } of this.#context.state.namespaces.store.list(cluster)) {
      const key = { cluster, namespace: metadata.name ?? "", name };
      if ((await objects.get(scopeOf(key), key))?.uid === uid) return true;
    }
    return false;
  }

  async #write(node: Node | undefined, { message, uid }: { readonly message: string; readonly uid: string }) {
    if (node === undefined) return;
    const { cluster, namespace, name } = node.key;
    const definition = this.#context.kinds.in(cluster).in(node.space)?.definition;
    if (definition === undefined) return;
    // A retry finds the event by its name.
    const suffix = createHash("sha256").update(`${node.uid} ${uid}`).digest("hex").slice(0, 16);
    const key: ObjectKey = { cluster, namespace: namespace || CLUSTER_EVENTS, name: `${name}.${suffix}` };
    const now = formatTime(new Date());
    await ensure(this.#context.objects.of(CoreEvent), key, () => ({
      involvedObject: {
        apiVersion: apiVersionOf(definition),
        kind: definition.kind,
        ...(namespace !== "" && { namespace }),
        name,
        uid: node.uid,
      },
      type: "Warning",
      reason: "OwnerRefInvalidNamespace",
      message,
      source: { component: COMPONENT },
      reportingComponent: COMPONENT,
      reportingInstance: "",
      firstTimestamp: now,
      lastTimestamp: now,
      eventTime: null,
      count: 1,
    }));
  }
}
