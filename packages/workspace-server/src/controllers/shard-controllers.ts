import { isDeepStrictEqual } from "node:util";
import { isApiError, type KubeObject, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { type Controller, type ControllerOptions, controller, type ReconcileFailure } from "@virtual-workspaces/client";
import type { Source, SourceStore } from "@virtual-workspaces/client/queue";
import type { Log } from "@virtual-workspaces/framework/server";
import type { ShardContext, ShardController } from "../state/context.ts";
import { replace, type Writable } from "../state/modify.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";

/** Options of a controller of a shard. */
export interface ShardControllerOptions<T extends KubeObject> extends Omit<ControllerOptions<T>, "onError"> {
  /** Returns other logical clusters that the reconciler reads, so that they are loaded before it is called. @default none */
  readonly others?: KnownOptions<T>["others"];
}

/** Starts a controller of a shard; errors are logged and retried. */
export function startController<T extends KubeObject>(
  shard: Pick<ShardContext, "registry" | "log" | "clock">,
  { others, ...options }: ShardControllerOptions<T>,
): ShardController & Pick<Controller<T>, "add"> {
  const [own] = options.sources.flatMap(({ informer, key }) => (key === undefined ? (informer as Source<T>) : []));
  if (own === undefined) throw new Error(`invalid controller "${options.name}": add a source without a key function`);
  const known = { registry: shard.registry, store: own.store, others };
  const reconcile = reconcileKnown<T>(known, options.reconcile);
  return controller<T>({ clock: shard.clock, ...options, reconcile, onError: failureLog(shard) });
}

/** Combines several controllers into one. */
export function combined(parts: readonly ShardController[]): ShardController {
  return {
    started: Promise.all(parts.map(({ started }) => started)),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(parts.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/** Object before and after a reconcile. */
export interface Revision<T extends KubeObject> {
  readonly before: T;
  readonly next: T;
}

/**
 * Writes a changed object at once: metadata, spec and status. kcp needs two writes, since its API has two paths for them.
 *
 * @returns the resulting object, `before` itself when nothing has changed; `undefined` when it is gone
 * @throws ApiError 409 when the object has changed since it was read
 */
export async function commit<T extends object>(
  collection: Writable<T>,
  key: ObjectKey,
  { before, next }: Revision<ObjectOf<T>>,
): Promise<ObjectOf<T> | undefined> {
  if (isDeepStrictEqual(before, next)) return before;
  try {
    return await replace(collection, key, { before, next });
  } catch (error) {
    if (isApiError(error) && error.code === 404) return undefined;
    throw error;
  }
}

/** Returns a handler that logs each failed attempt; the controller retries. */
export function failureLog({ log }: { readonly log: Log }): (failure: ReconcileFailure) => void {
  return ({ controller, error, key, attempt, retryAfter }) => {
    const why = error instanceof Error ? error.message : String(error);
    const { cluster, name: object } = key ?? {};
    log({ level: "warn", message: "controller failed", controller, cluster, object, attempt, retryAfter, error: why });
  };
}

type Reconcile<T extends KubeObject> = ControllerOptions<T>["reconcile"];

/** Options of {@link reconcileKnown}. */
interface KnownOptions<T extends KubeObject> {
  readonly registry: Pick<ShardRegistry, "load">;
  /** Store of the reconciled objects. */
  readonly store: Pick<SourceStore<T>, "get">;
  /** Returns other logical clusters that the reconciler reads. @default none */
  readonly others?: ((object: T) => readonly (string | undefined)[]) | undefined;
}

/**
 * Wraps a reconciler so that the logical clusters it reads are loaded first: an object that is not loaded must not seem
 * missing.
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

/** Wraps a reconciler so that the logical cluster of the object is loaded first. */
export type Known = <T extends KubeObject>(of: Source<T>, reconcile: Reconcile<T>) => Reconcile<T>;

/** Returns that wrapper for the logical clusters of all shards. */
export function knownIn(registry: Pick<ShardRegistry, "load">): Known {
  return ({ store }, reconcile) => reconcileKnown({ registry, store }, reconcile);
}
