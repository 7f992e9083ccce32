import { isDeepStrictEqual } from "node:util";
import { ApiError, type KubeObject, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { type Controller, type ControllerOptions, controller, type ReconcileFailure } from "@virtual-workspaces/client";
import type { Source, SourceStore } from "@virtual-workspaces/client/queue";
import type { Log } from "@virtual-workspaces/framework/server";
import type { ShardContext, ShardController } from "../state/context.ts";
import { modify, type Writable } from "../state/modify.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";

/** A controller as part of a shard. */
export interface ShardControllerOptions<T extends KubeObject> extends Omit<ControllerOptions<T>, "onError"> {
  /** Logical clusters that it reads of, besides that of the key: all is known of them when it is called. @default none */
  readonly others?: KnownOptions<T>["others"];
}

/** A controller as part of a shard; what fails is logged, and tried again. */
export function startController<T extends KubeObject>(
  shard: Pick<ShardContext, "registry" | "log">,
  { others, ...options }: ShardControllerOptions<T>,
): ShardController & Pick<Controller<T>, "add"> {
  const [own] = options.sources.flatMap(({ informer, key }) => (key === undefined ? (informer as Source<T>) : []));
  if (own === undefined) throw new Error(`controller ${options.name}: there is nothing to reconcile`);
  const known = { registry: shard.registry, store: own.store, others };
  const reconcile = reconcileKnown<T>(known, options.reconcile);
  return controller<T>({ ...options, reconcile, onError: failureLog(shard) });
}

/** Several parts as one. */
export function combined(parts: readonly ShardController[]): ShardController {
  return {
    started: Promise.all(parts.map(({ started }) => started)),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(parts.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/** What was made of an object that was read. */
export interface Revision<T extends KubeObject> {
  readonly before: T;
  readonly next: T;
}

/**
 * Writes what a controller has made of an object, if anything: metadata and spec or, if they are as they were, the status. So
 * followers see each step by itself, as from kcp; what was left out is found again when the controller is told of the write.
 *
 * @returns whether something was written
 * @throws ApiError 409 when the object has changed since it was read
 */
export async function commit<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
  { before, next }: Revision<ObjectOf<T>>,
): Promise<boolean> {
  if (isDeepStrictEqual(before, next)) return false;
  const statusOf = (object: KubeObject): unknown => object["status"];
  const isStatusOnly = isDeepStrictEqual({ ...next, status: 0 }, { ...before, status: 0 });
  const status = statusOf(isStatusOnly ? next : before);
  await modify(collection, key, (current) => {
    const { uid, resourceVersion } = before.metadata;
    if (current.metadata.uid !== uid || current.metadata.resourceVersion !== resourceVersion) {
      const { group, plural } = collection.resource;
      throw ApiError.conflict({ group, resource: plural }, key.name, "it has changed since it was read");
    }
    return { ...(isStatusOnly ? current : next), ...(status !== undefined && { status }) } as ObjectOf<T>;
  });
  return true;
}

/** Logs what a controller has failed at: once for each attempt, as it is tried again. */
export function failureLog({ log }: { readonly log: Log }): (failure: ReconcileFailure) => void {
  return ({ controller, error, key, attempt, retryAfter }) => {
    const why = error instanceof Error ? error.message : String(error);
    const { cluster, name: object } = key ?? {};
    log({ level: "warn", message: "controller failed", controller, cluster, object, attempt, retryAfter, error: why });
  };
}

type Reconcile<T extends KubeObject> = ControllerOptions<T>["reconcile"];

/** What a reconcile asks for before it begins. */
interface KnownOptions<T extends KubeObject> {
  readonly registry: Pick<ShardRegistry, "load">;
  /** The objects that are reconciled. */
  readonly store: Pick<SourceStore<T>, "get">;
  /** Other logical clusters that it reads of. @default none */
  readonly others?: ((object: T) => readonly (string | undefined)[]) | undefined;
}

/**
 * A reconcile that begins when all is known of the logical cluster of its key, and of others that it reads of: what is not
 * read yet is not to be taken for what is not there.
 */
function reconcileKnown<T extends KubeObject>(
  { registry, store, others }: KnownOptions<T>,
  reconcile: Reconcile<T>,
): Reconcile<T> {
  return async (key, context) => {
    const own = registry.load(key.cluster);
    await own;
    const object = own === undefined ? context.object : store.get(key);
    for (const other of (object && others?.(object)) ?? []) if (other) await registry.load(other);
    return reconcile(key, { ...context, object });
  };
}

/** Makes a reconcile of objects wait until all is known of their logical cluster. */
export type Known = <T extends KubeObject>(of: Source<T>, reconcile: Reconcile<T>) => Reconcile<T>;

/** The same for the logical clusters of all shards. */
export function knownIn(registry: Pick<ShardRegistry, "load">): Known {
  return ({ store }, reconcile) => reconcileKnown({ registry, store }, reconcile);
}
