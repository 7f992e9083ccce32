import { isDeepStrictEqual } from "node:util";
import type { StoredObject, StoredPlace } from "@virtual-workspaces/store";
import { Workers } from "../controllers/workers.ts";
import type { ShardContext, ShardController } from "../state/context.ts";
import { DeletionAttempts } from "./deletion-attempts.ts";
import { Graph, type Node, type Owner, placeId, readNode } from "./graph.ts";
import { OwnerEvents } from "./owner-events.ts";

type Task =
  | { readonly kind: "delete" | "orphan" | "owner"; readonly id: string; readonly cluster: string }
  | { readonly kind: "kinds"; readonly cluster: string; readonly attempt: number };

/** Delay in ms, within which deletions of dependents cause only one pass over their owner. */
const TOGETHER = 20;
/** Delays in ms before kinds are looked up again after the kinds of a logical cluster have changed. */
const KINDS_AFTER: readonly number[] = [50, 400, 3_000];
/** Key spaces of objects that define kinds. */
const KIND_SPACES: ReadonlySet<string> = new Set([
  "apiextensions.k8s.io/customresourcedefinitions",
  "apis.kcp.io/apibindings",
]);

/**
 * Deletes objects whose owners are gone, and handles foreground and orphan deletion (Kubernetes' garbage collector),
 * for all kinds of all logical clusters of a shard. An owner is looked up only in the logical cluster of its dependent.
 * The feed delivers the objects, and every pass has an event as its cause. All state is in the objects.
 */
export class GarbageCollector implements ShardController {
  readonly started: Promise<void>;
  readonly #context: ShardContext;
  readonly #graph: Graph;
  readonly #attempts: DeletionAttempts;
  readonly #events: OwnerEvents;
  readonly #workers: Workers<Task>;
  readonly #following: Disposable;
  readonly #stop = Promise.withResolvers<void>();
  #stopped = false;
  /** Ids seen since the feed started over. */
  #seen: Set<string> | undefined;
  /** Tasks that wait for an unserved kind, by logical cluster. */
  readonly #unserved = new Map<string, Map<string, Task>>();

  constructor(context: ShardContext) {
    const { feed, kinds, log, name: shard } = context;
    this.#context = context;
    this.#graph = new Graph((owner) => this.#placeOf(owner));
    this.#attempts = new DeletionAttempts({
      graph: this.#graph,
      kinds,
      look: (node) => this.#look(node),
    });
    this.#events = new OwnerEvents(context, this.#graph, (owner) => this.#attempts.isAbsent(owner));
    this.#workers = new Workers<Task>({
      clock: context.clock,
      id: (task) => (task.kind === "kinds" ? `kinds ${task.cluster} ${task.attempt}` : `${task.kind} ${task.id}`),
      part: ({ cluster }) => cluster,
      count: 8,
      work: (task) => this.#work(task),
      onError: (error, task) => {
        if (!this.#stopped)
          log({ level: "warn", message: "cannot collect garbage", shard, ...task, error: String(error) });
      },
    });
    this.#following = feed.on({
      began: () => {
        this.#seen = new Set();
      },
      set: (object) => this.#set(object),
      deleted: (place) => this.#deleted(placeId(place), place),
      synced: () => this.#synced(),
    });
    this.started = Promise.race([feed.synced, this.#stop.promise]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#stop.resolve();
    this.#following[Symbol.dispose]();
    await this.#workers[Symbol.asyncDispose]();
  }

  #set(object: StoredObject): void {
    const id = placeId(object);
    this.#seen?.add(id);
    if (KIND_SPACES.has(object.space)) this.#kinds(object.key.cluster, 0);
    const before = this.#graph.node(id);
    // Another object has taken the name: dependents of the old one lose their owner.
    for (const owner of this.#graph.ownersAt(id)) if (!object.bytes.includes(owner.reference.uid)) this.#gone(owner);
    const node = readNode(object);
    if (before !== undefined && before.uid !== node?.uid) this.#remove(before);
    if (node === undefined) return;
    // The graph forgets owners that nothing references.
    const waiting = before === undefined ? [] : this.#waitingOwners(before);
    for (const owner of this.#graph.set(node)) this.#add("owner", owner);
    this.#changed(before?.uid === node.uid ? before : undefined, node, waiting);
  }

  #deleted(id: string, { space, key }: StoredPlace): void {
    if (KIND_SPACES.has(space)) this.#kinds(key.cluster, 0);
    for (const owner of this.#graph.ownersAt(id)) this.#gone(owner);
    this.#remove(this.#graph.node(id));
  }

  /** @param waiting the owners before, that wait for their dependents */
  #changed(before: Node | undefined, node: Node, waiting: readonly Node[]): void {
    if (before !== undefined && !isDeepStrictEqual(before.references, node.references)) this.#passOver(waiting);
    for (const owner of this.#graph.ownersOf(node)) {
      const isNew = before === undefined || !before.references.some(({ uid }) => uid === owner.reference.uid);
      if (isNew && (owner.isAbsent || this.#waitingOwner(owner) !== undefined)) this.#look(node);
    }
    if (node.waits === before?.waits) return;
    const cluster = node.key.cluster;
    if (node.waits === "orphan") this.#workers.add({ kind: "orphan", id: node.id, cluster });
    if (node.waits !== "foreground") return;
    for (const dependent of this.#graph.dependentsOf(node)) this.#look(dependent);
    this.#look(node);
    this.#passOver(this.#waitingOwners(node));
  }

  #remove(node: Node | undefined): void {
    if (node === undefined) return;
    this.#passOver(this.#waitingOwners(node));
    this.#graph.delete(node.id);
  }

  /** Requests a pass over owners that wait for an object. */
  #passOver(owners: readonly Node[]): void {
    for (const owner of owners) this.#look(owner, TOGETHER);
  }

  #waitingOwners(node: Node): Node[] {
    return this.#graph.ownersOf(node).flatMap((owner) => this.#waitingOwner(owner) ?? []);
  }

  #waitingOwner({ place, reference }: Owner): Node | undefined {
    const node = place === undefined ? undefined : this.#graph.node(place);
    return node?.waits === "foreground" && node.uid === reference.uid ? node : undefined;
  }

  #gone(owner: Owner): void {
    owner.isAbsent = true;
    for (const id of owner.dependents) this.#workers.add({ kind: "delete", id, cluster: owner.cluster });
  }

  /** Removes objects that were deleted while events were missed, and checks all owners again. */
  #synced(): void {
    const seen = this.#seen;
    this.#seen = undefined;
    for (const id of [...this.#graph.ids()]) if (seen?.has(id) === false) this.#remove(this.#graph.node(id));
    for (const owner of this.#graph.owners()) this.#add("owner", owner);
  }

  #look({ id, key: { cluster } }: Node, after = 0): void {
    this.#workers.add({ kind: "delete", id, cluster }, after);
  }

  #add(kind: "owner", { id, cluster }: Owner): void {
    this.#workers.add({ kind, id, cluster });
  }

  async #work(task: Task): Promise<void> {
    // Objects that the feed has not delivered yet could be dependents.
    if (!this.#context.feed.isSynced) await Promise.race([this.#context.feed.synced, this.#stop.promise]);
    if (this.#stopped) return;
    if (task.kind === "kinds") return this.#resolve(task);
    if (task.kind === "owner") {
      const owner = this.#graph.owner(task.id);
      if (owner === undefined) return;
      const isAbsent = await this.#attempts.isAbsent(owner);
      if (isAbsent || owner.namespace === "") await this.#events.report(owner);
      if (isAbsent) this.#gone(owner);
      return;
    }
    const node = this.#graph.node(task.id);
    if (node === undefined) return;
    if (this.#context.kinds.in(task.cluster).in(node.space) === undefined) return this.#wait(task);
    if (task.kind === "delete") await this.#attempts.delete(node);
    else if (node.waits === "orphan") await this.#attempts.orphan(node);
  }

  /** Keeps a task until its kind is served. */
  #wait(task: Task & { readonly id: string }): void {
    const waiting = this.#unserved.get(task.cluster) ?? new Map<string, Task>();
    this.#unserved.set(task.cluster, waiting.set(`${task.kind} ${task.id}`, task));
    this.#kinds(task.cluster, 0);
  }

  #kinds(cluster: string, attempt: number): void {
    const isWaiting = this.#unserved.has(cluster) || this.#graph.homelessIn(cluster).length > 0;
    const after = KINDS_AFTER[attempt];
    if (isWaiting && after !== undefined) this.#workers.add({ kind: "kinds", cluster, attempt }, after);
  }

  #resolve({ cluster, attempt }: Task & { readonly kind: "kinds" }): void {
    // Objects with further owners were skipped while this kind was unknown.
    for (const owner of this.#graph.homelessIn(cluster))
      if (this.#graph.resolve(owner))
        for (const id of owner.dependents) this.#workers.add({ kind: "delete", id, cluster });
    const kinds = this.#context.kinds.in(cluster);
    const waiting = this.#unserved.get(cluster);
    for (const [name, task] of waiting ?? []) {
      const node = task.kind === "kinds" ? undefined : this.#graph.node(task.id);
      if (node !== undefined && kinds.in(node.space) === undefined) continue;
      waiting?.delete(name);
      if (node !== undefined) this.#workers.add(task);
    }
    if (waiting?.size === 0) this.#unserved.delete(cluster);
    this.#kinds(cluster, attempt + 1);
  }

  #placeOf({ cluster, namespace, reference, dependents }: Owner): string | undefined {
    const { kinds, log, name: shard } = this.#context;
    const kind = kinds.in(cluster).of(reference.apiVersion, reference.kind);
    if (kind === undefined) return "unknown";
    const isNamespaced = kind.definition.scope === "Namespaced";
    if (isNamespaced && namespace === "") {
      const [dependent] = dependents;
      const message =
        "cannot resolve owner: a cluster-scoped object cannot have a namespaced owner: remove the owner reference";
      log({ level: "warn", message, shard, dependent, owner: { ...reference } });
      return undefined;
    }
    const key = { cluster, namespace: isNamespaced ? namespace : "", name: reference.name };
    return placeId({ space: kind.objects.space, key });
  }
}
