import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { ControllerOptions, SourceStore } from "@virtual-workspaces/client";
import type { Installation } from "../state/shard-registry.ts";

type Reconcile<T extends KubeObject> = ControllerOptions<T>["reconcile"];

/** What a reconcile asks for before it begins. */
export interface KnownOptions<T extends KubeObject> {
  readonly installation: Pick<Installation, "load">;
  /** The objects that are reconciled. */
  readonly store: Pick<SourceStore<T>, "get">;
  /** Other logical clusters that it reads of. @default none */
  readonly others?: ((object: T) => readonly (string | undefined)[]) | undefined;
}

/**
 * A reconcile that begins when all is known of the logical cluster of its key, and of others that it reads of: what is not
 * read yet is not to be taken for what is not there.
 */
export function reconcileKnown<T extends KubeObject>(
  { installation, store, others }: KnownOptions<T>,
  reconcile: Reconcile<T>,
): Reconcile<T> {
  return async (key, context) => {
    const own = installation.load(key.cluster);
    await own;
    const object = own === undefined ? context.object : store.get(key);
    for (const other of (object && others?.(object)) ?? []) if (other) await installation.load(other);
    return reconcile(key, { ...context, object });
  };
}
