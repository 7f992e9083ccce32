import type { GroupResource, ObjectKey } from "@virtual-workspaces/apimachinery";
import { type Controller, controller, type ReconcileFailure } from "@virtual-workspaces/client";
import {
  API_BINDINGS_INITIALIZER,
  LogicalCluster,
  type LogicalCluster as LogicalClusterObject,
} from "@virtual-workspaces/kcp";
import { RESOURCE_BINDINGS_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { Known } from "../../controllers/shard-controllers.ts";
import { filterUpdates, follow } from "../../controllers/sources.ts";
import { type CrdContent, hasCondition } from "../../crds/definition/definition.ts";
import type { ShardController } from "../../state/context.ts";
import type { Informer } from "../../state/informers/informer.ts";
import { modify } from "../../state/modify.ts";
import type { ShardObjects } from "../../state/objects.ts";
import { logicalClusterKey, type ShardState } from "../../state/shard-state.ts";

/** Holder of a resource in a logical cluster: a binding by name (`n`), or CustomResourceDefinitions (`c`), until `e`. */
export interface Lock {
  readonly n?: string;
  readonly c?: boolean;
  readonly e?: string;
}

/** Locks on the resources of a logical cluster, by `<resource>.<group>`. */
export type Locks = ReadonlyMap<string, Lock>;

/** Objects of a logical cluster that can hold locks. */
export interface Holders {
  /** Bindings by name, with the resources that each has bound. */
  readonly bindings: ReadonlyMap<string, readonly GroupResource[]>;
  /** CustomResourceDefinitions by name, with whether each is established. */
  readonly crds: ReadonlyMap<string, boolean>;
}

/** Returns the key of a resource in the annotation. */
export function lockKey({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** Parses the annotation `internal.apis.kcp.io/resource-bindings`; `undefined` if it is missing or invalid. */
export function parseLocks(text: string | undefined): Locks | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const entries = Object.entries(value);
    if (entries.some(([, lock]) => typeof lock !== "object" || lock === null)) return undefined;
    return new Map(entries as [string, Lock][]);
  } catch {
    return undefined;
  }
}

/** Returns the text of the annotation, with sorted keys. */
export function formatLocks(locks: Locks): string {
  return JSON.stringify(Object.fromEntries([...locks].sort(([one], [other]) => (one < other ? -1 : 1))));
}

/** Returns the current locks: without those of deleted holders, with those of established definitions (kcp's clean-up). */
export function cleanedLocks(text: string | undefined, holders: Holders, now: Date): Locks {
  const given = parseLocks(text) ?? boundLocks(holders);
  const locks = new Map<string, Lock>();
  for (const [key, lock] of given) {
    if (lock.c !== true) {
      if (holders.bindings.has(lock.n ?? "")) locks.set(key, lock);
    } else if (holders.crds.has(key)) locks.set(key, { c: true });
    else if (lock.e !== undefined && !hasPassed(lock.e, now)) locks.set(key, lock);
  }
  for (const [name, established] of holders.crds) if (established && !locks.has(name)) locks.set(name, { c: true });
  return locks;
}

function boundLocks({ bindings }: Holders): Locks {
  return new Map(
    [...bindings].flatMap(([n, resources]) => resources.map((resource) => [lockKey(resource), { n }] as const)),
  );
}

/** Result of taking locks. */
export interface Taken {
  readonly locks: Locks;
  /** Locks that others hold. */
  readonly conflicts: ReadonlyMap<string, Lock>;
}

/** Takes the free locks among those of some resources for a binding; the first holder keeps a lock. */
export function takeLocks(
  given: Locks,
  { name, resources }: { readonly name: string; readonly resources: readonly GroupResource[] },
  { crds, now }: { readonly crds: Holders["crds"]; readonly now: Date },
): Taken {
  const locks = new Map(given);
  const conflicts = new Map<string, Lock>();
  for (const resource of resources) {
    const key = lockKey(resource);
    const lock = locks.get(key);
    const over = lock?.c === true && !crds.has(key) && hasPassed(lock.e, now);
    if (lock === undefined || over || (lock.c !== true && lock.n === name)) locks.set(key, { n: name });
    else conflicts.set(key, lock);
  }
  return { locks, conflicts };
}

/** Formats a map of locks as Go does, for kcp's messages. */
export function formatConflicts(conflicts: ReadonlyMap<string, Lock>): string {
  const texts = [...conflicts].map(([key, { n = "", c = false }]) => `${key}:{${n} ${c}}`);
  return `map[${texts.sort().join(" ")}]`;
}

function hasPassed(time: string | undefined, now: Date): boolean {
  return time === undefined || !(Date.parse(time) > now.getTime());
}

/** State that {@link holdersIn} reads. */
export interface HoldersOptions {
  readonly state: Pick<ShardState, "apiBindings">;
  /** CustomResourceDefinitions of all logical clusters. */
  readonly crds: Informer<CrdContent>;
  /** Returns the names of bindings that a logical cluster has or is about to get: their locks are taken already. */
  readonly expected: (cluster: string) => readonly string[];
}

/** Returns the objects of a logical cluster that hold resources, or may. */
export function holdersIn(cluster: string, { state, crds, expected }: HoldersOptions): Holders {
  const bindings = new Map<string, readonly GroupResource[]>(expected(cluster).map((name) => [name, []]));
  for (const { metadata, status } of state.apiBindings.store.list(cluster))
    bindings.set(metadata.name ?? "", status?.boundResources ?? []);
  const definitions = new Map<string, boolean>();
  for (const { metadata, status } of crds.store.list(cluster))
    definitions.set(metadata.name ?? "", hasCondition(status, "Established"));
  return { bindings, crds: definitions };
}

/** Whether a logical cluster waits for its default bindings, or will once its initialization begins. */
export function waitsForBindings({ metadata, spec, status }: LogicalClusterObject): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const phase = status?.phase ?? "Scheduling";
  if (phase === "Scheduling") return spec.initializers?.includes(API_BINDINGS_INITIALIZER) === true;
  return phase === "Initializing" && status?.initializers?.includes(API_BINDINGS_INITIALIZER) === true;
}

/** Options of {@link LockController}. */
interface LockControllerOptions extends HoldersOptions {
  readonly objects: ShardObjects;
  readonly state: ShardState;
  readonly known: Known;
  readonly now: () => Date;
  readonly onError: (failure: ReconcileFailure) => void;
}

/** Whether an update concerns the locks: they have changed, one may have expired, or no binding is expected any more. */
function mayChange(object: LogicalClusterObject, before: LogicalClusterObject): boolean {
  const locksOf = ({ metadata }: LogicalClusterObject): string | undefined =>
    metadata.annotations?.[RESOURCE_BINDINGS_ANNOTATION];
  if (waitsForBindings(before) && !waitsForBindings(object)) return true;
  return locksOf(object) !== locksOf(before) || locksOf(object)?.includes('"e":') !== false;
}

/** Maintains the annotation of LogicalClusters that lists the holders of resources (kcp's `logicalclustercleanup`). */
export class LockController implements ShardController {
  readonly started: Promise<void>;
  readonly #options: LockControllerOptions;
  readonly #controller: Controller<LogicalClusterObject>;
  readonly #stack = new DisposableStack();

  constructor(options: LockControllerOptions) {
    const { state, crds, onError } = options;
    this.#options = options;
    const needsPass = ({ metadata }: LogicalClusterObject, key: ObjectKey): boolean =>
      !this.#isCurrent(key, metadata.annotations);
    this.#controller = controller({
      name: "resource-bindings",
      sources: [{ informer: filterUpdates(state.logicalClusters, mayChange, needsPass) }],
      reconcile: options.known(state.logicalClusters, (key) => this.#reconcile(key)),
      onError,
    });
    this.started = this.#controller.started;
    const changed = (_: unknown, { cluster }: ObjectKey): void => this.#controller.add(logicalClusterKey(cluster));
    // A new binding releases no lock.
    this.#stack.use(
      state.apiBindings.on({
        updated: (binding, before, { key }) => {
          if (binding.metadata.uid !== before.metadata.uid) changed(binding, key);
        },
        deleted: (binding, { key }) => changed(binding, key),
      }),
    );
    this.#stack.use(follow(crds, changed, ({ status }) => hasCondition(status, "Established")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose();
    await this.#controller.stop();
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const { objects } = this.#options;
    const seen = this.#options.state.logicalClusters.store.get(key);
    if (seen === undefined) return;
    if (this.#isCurrent(key, seen.metadata.annotations)) return;
    await modify(objects.of(LogicalCluster), key, ({ metadata, ...rest }) => {
      const annotations = {
        ...metadata.annotations,
        [RESOURCE_BINDINGS_ANNOTATION]: this.#text(key, metadata.annotations),
      };
      return { ...rest, metadata: { ...metadata, annotations } };
    });
  }

  #isCurrent(key: ObjectKey, annotations: Readonly<Record<string, string>> | undefined): boolean {
    return annotations?.[RESOURCE_BINDINGS_ANNOTATION] === this.#text(key, annotations);
  }

  #text({ cluster }: ObjectKey, annotations: Readonly<Record<string, string>> = {}): string {
    const holders = holdersIn(cluster, this.#options);
    return formatLocks(cleanedLocks(annotations[RESOURCE_BINDINGS_ANNOTATION], holders, this.#options.now()));
  }
}
