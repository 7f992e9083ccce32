import { ApiError, type GroupResource, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Admit, ServedResource } from "@virtual-workspaces/framework";
import type { CacheLease } from "@virtual-workspaces/framework/storage";
import type { PersistentOptions, Store } from "@virtual-workspaces/store";
import { type Clock, systemClock } from "@virtual-workspaces/transport";
import { Workers } from "../../controllers/workers.ts";
import { admitCrdWith } from "../admission/admit.ts";
import type { CrdSpec } from "../definition/definition.ts";
import { settledStatus, type TakenNames } from "../definition/naming.ts";
import { type CrdCollection, CrdStorage } from "../definition/storage.ts";
import { type CrdEntry, resourceNamed } from "../served/entry.ts";
import { ServedKinds } from "../served/served-kinds.ts";
import { Cleanup } from "./cleanup.ts";
import { CrdIndex } from "./index-of-crds.ts";
import { writeStatus } from "./writes.ts";

/** Options of {@link CrdController}. */
export interface CrdControllerOptions {
  /** Definitions of all logical clusters of a shard: `CustomResourceDefinition.collection(persistent(store))`. */
  readonly crds: CrdCollection;
  /** Store of custom objects, with a key space for each definition. */
  readonly store: Store;
  /**
   * Returns the names of a group that built-in kinds and bindings use in a logical cluster. Call {@link
   * CrdController.recheck} when they change. @default none
   */
  readonly taken?: (cluster: string, group: string) => TakenNames;
  /** Loads a logical cluster before {@link taken} is called for it. @default `undefined`: nothing has to be loaded */
  readonly known?: (cluster: string) => Promise<void> | undefined;
  /** Called before every write of a custom object. @default none */
  readonly admit?: Admit;
  /** Storage options of custom objects. @default those of `persistent` */
  readonly objects?: Omit<PersistentOptions, "keySpace" | "ttl">;
  /**
   * Number of recently used logical clusters whose served resources stay in memory, about ten KB for each definition.
   * @default 1000
   */
  readonly recent?: number;
  /** Time of backoff. @default the machine's */
  readonly clock?: Clock;
  /** Time of conditions and deletions. @default the clock */
  readonly now?: () => Date;
  /** Called for errors, which are retried, and for definitions that cannot be served. @default a process warning */
  readonly onError?: (error: unknown, crd: string) => void;
}

type Task =
  | { readonly kind: "crd"; readonly entry: CrdEntry }
  | { readonly kind: "purge"; readonly cluster: string; readonly name: string; readonly uid: string }
  | { readonly kind: "sweep" };

/**
 * CustomResourceDefinitions of the logical clusters of a shard (Kubernetes' apiextensions-apiserver): sets names and
 * conditions, serves custom resources, and deletes the objects of deleted definitions. It works on the collection's
 * cache, without timers and without a watch for each workspace. All state is in the objects, so a restart continues at
 * any point. Memory: the definitions as JSON, a few hundred bytes more for each, and what is in use. Of several servers
 * on one store, only one should run it: two could give a name to two definitions.
 */
export class CrdController implements AsyncDisposable {
  /** Storage for client writes of definitions; {@link serve} serves it. */
  readonly storage: CrdStorage;
  readonly #options: CrdControllerOptions;
  readonly #served: ServedKinds;
  readonly #now: () => Date;
  readonly #onError: (error: unknown, crd: string) => void;
  readonly #stop = new AbortController();
  #running: Running | undefined;

  constructor(options: CrdControllerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#onError = options.onError ?? warn;
    this.storage = new CrdStorage(options.crds, this.#now);
    this.#served = new ServedKinds({
      ...options.objects,
      store: options.store,
      admit: options.admit,
      recent: options.recent ?? 1000,
      onFault: this.#onError,
    });
  }

  /**
   * Serves the kind CustomResourceDefinition itself, with Kubernetes' validation, for `resources` of a virtual workspace.
   *
   * @param admit admission of all kinds, called for valid definitions
   */
  serve(admit?: Admit): ServedResource {
    const { resource } = this.#options.crds;
    return (resource as unknown as Servable).serve(this.storage, { admit: admitCrdWith(admit) });
  }

  /** Reads all definitions and starts the workers. Resolves when {@link servedIn} can be called. @throws ApiError 503 */
  async start(): Promise<void> {
    if (this.#running !== undefined) return;
    const lease = await this.#options.crds.cache();
    if (this.#stop.signal.aborted) lease[Symbol.dispose]();
    else this.#running = this.#run(lease);
  }

  /**
   * Returns the custom resources of a logical cluster: all served versions of established definitions. The same list
   * while nothing changes and the list is in use, and for all logical clusters without definitions.
   *
   * @throws ApiError 503 before {@link start} has resolved
   */
  servedIn(cluster: string): readonly ServedResource[] {
    const { index } = this.#started();
    return this.#served.in(cluster, index.in(cluster));
  }

  /**
   * Returns the scope of a resource by its first established definition in any logical cluster; `undefined` if there is none.
   *
   * @throws ApiError 503 before {@link start} has resolved
   */
  scopeOf({ group, resource }: GroupResource): CrdSpec["scope"] | undefined {
    for (const { scope } of this.#started().index.named(`${resource}.${group}`)) if (scope !== undefined) return scope;
    return undefined;
  }

  /** Resolves when {@link servedIn} knows all definitions in the store at the time of this call. @throws ApiError 503 */
  async confirm(request: { readonly signal: AbortSignal }): Promise<void> {
    await this.#started().lease.confirm(request);
  }

  /** Retries the definitions of a logical cluster after names of others changed there. */
  recheck(cluster: string): void {
    const { index, names } = this.#started();
    for (const entry of index.in(cluster)) names.add(entry);
  }

  /** Stops the workers and waits for work in progress. The next controller continues where this one stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    running.index[Symbol.dispose]();
    await Promise.all([running.names[Symbol.asyncDispose](), running.tasks[Symbol.asyncDispose]()]);
    running.cleanup[Symbol.dispose]();
    running.lease[Symbol.dispose]();
  }

  #started(): Running {
    if (this.#running === undefined) throw ApiError.serviceUnavailable("custom kinds are not loaded yet: try again", 1);
    return this.#running;
  }

  #run(lease: CacheLease): Running {
    const { crds, store, clock = systemClock } = this.#options;
    const onError = (error: unknown, what: string): void => {
      if (!this.#stop.signal.aborted) this.#onError(error, what);
    };
    const names = new Workers<CrdEntry>({
      clock,
      id: ({ cluster, name }) => `${cluster}/${name}`,
      part: ({ cluster }) => cluster,
      // One worker, so that two definitions cannot get the same name.
      count: 1,
      work: (entry) => this.#settle(entry),
      onError: (error, { cluster, name }) => onError(error, `${name} in ${cluster}`),
    });
    const tasks = new Workers<Task>({
      clock,
      id: idOf,
      part: clusterOf,
      count: 4,
      work: (task) => this.#do(task),
      onError: (error, task) => onError(error, idOf(task)),
    });
    const index = new CrdIndex(lease.cache, {
      changed: (entry) => {
        this.#served.changed(entry.cluster);
        names.add(entry);
      },
      gone: (key, uid) => this.#gone({ key, uid }, { tasks, names }),
    });
    const again = (entry: CrdEntry): void => tasks.add({ kind: "crd", entry });
    const { signal } = this.#stop;
    const cleanup = new Cleanup({ crds, store, served: this.#served, index, lease, now: this.#now, signal, again });
    tasks.add({ kind: "sweep" });
    return { lease, names, tasks, index, cleanup };
  }

  /** Retries other definitions of the group, whose names may be free now. */
  #gone(
    { key: { cluster, name }, uid }: { readonly key: Pick<ObjectKey, "cluster" | "name">; readonly uid: string },
    { tasks, names }: Pick<Running, "tasks" | "names">,
  ): void {
    this.#served.changed(cluster);
    tasks.add({ kind: "purge", cluster, name, uid });
    const { group } = resourceNamed(name);
    for (const other of this.#running?.index.ofGroup(cluster, group) ?? []) names.add(other);
  }

  async #settle(entry: CrdEntry): Promise<void> {
    const { index, tasks, names } = this.#started();
    const { cluster, group } = entry;
    await this.#options.known?.(cluster);
    if (index.get(entry) !== entry) return;
    const crd = entry.read();
    if (crd.metadata.deletionTimestamp !== undefined) {
      tasks.add({ kind: "crd", entry });
      return;
    }
    const status = settledStatus(crd, this.#taken(entry), this.#now());
    const written = await writeStatus(this.#options.crds, crd, { cluster, status });
    if (written === undefined) return;
    index.put(written);
    // The definition may have released a name.
    for (const other of index.ofGroup(cluster, group)) if (other !== entry) names.add(other);
  }

  #taken({ cluster, group }: CrdEntry): TakenNames {
    const others = this.#options.taken?.(cluster, group);
    const resources = new Set(others?.resources);
    const kinds = new Set(others?.kinds);
    for (const { accepted } of this.#started().index.ofGroup(cluster, group)) {
      for (const name of accepted.resources) resources.add(name);
      for (const name of accepted.kinds) kinds.add(name);
    }
    return { resources, kinds };
  }

  async #do(task: Task): Promise<void> {
    const { cleanup, index } = this.#started();
    if (task.kind === "sweep") await cleanup.sweep();
    else if (task.kind === "purge") await cleanup.purge(resourceNamed(task.name), task.uid);
    else if (index.get(task.entry) === task.entry) await cleanup.run(task.entry);
  }
}

interface Servable {
  serve(storage: CrdStorage, options: { readonly admit: Admit }): ServedResource;
}

interface Running {
  readonly lease: CacheLease;
  readonly index: CrdIndex;
  readonly names: Workers<CrdEntry>;
  readonly tasks: Workers<Task>;
  readonly cleanup: Cleanup;
}

function idOf(task: Task): string {
  if (task.kind === "crd") return `${task.entry.name} in ${task.entry.cluster}`;
  return task.kind === "purge" ? `data of removed definition ${task.uid}` : "data of removed definitions";
}

function clusterOf(task: Task): string {
  return task.kind === "crd" ? task.entry.cluster : task.kind === "purge" ? task.cluster : "";
}

function warn(error: unknown, crd: string): void {
  process.emitWarning(
    `custom resource definitions: cannot reconcile ${crd}: ${error instanceof Error ? error.message : String(error)}`,
  );
}
