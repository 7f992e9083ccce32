import { createHash } from "node:crypto";
import { apiVersionOf, formatTime, type ObjectKey, type OwnerReference } from "@virtual-workspaces/apimachinery";
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
 * names no namespace, so that a dependent of such an owner is deleted although the owner exists.
 */
export class OwnerEvents {
  readonly #context: ShardContext;
  readonly #graph: Graph;
  /** Owners that were looked for. */
  readonly #known = new WeakSet<Owner>();

  constructor(context: ShardContext, graph: Graph) {
    this.#context = context;
    this.#graph = graph;
  }

  /**
   * Looks for an owner in the other namespaces of its logical cluster, once.
   *
   * @throws errors of the store; retry
   */
  async report(owner: Owner): Promise<void> {
    if (this.#known.has(owner)) return;
    const { cluster, namespace, reference, dependents } = owner;
    const kind = this.#context.kinds.in(cluster).of(reference.apiVersion, reference.kind);
    if (kind?.definition.scope === "Namespaced" && (await this.#exists(kind, cluster, reference))) {
      const { apiVersion, kind: type, name, uid } = reference;
      const identity = `[${apiVersion}/${type}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
      const message = `ownerRef ${identity} does not exist in namespace ${JSON.stringify(namespace)}`;
      for (const id of [...dependents]) await this.#write(this.#graph.node(id), { message, uid });
    }
    this.#known.add(owner);
  }

  /** Reads one object of each namespace, however many the kind has. */
  async #exists({ objects }: StoredKind, cluster: string, { name, uid }: OwnerReference): Promise<boolean> {
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
