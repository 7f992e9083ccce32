import type { Shard } from "@virtual-workspaces/kcp";

/**
 * On a Shard object in `root`: `"true"` has the server run it in its own process, in a store and at an address of its own, and
 * say in the object where that is. Given when the object is created, and for good.
 */
export const IN_PROCESS_ANNOTATION = "virtual-workspaces.io/in-process";

/** Holds the Shard object of such a shard until no logical cluster is left on it, and it has stopped. */
export const IN_PROCESS_FINALIZER = "virtual-workspaces.io/in-process";

/** Whether the server is to run a shard. */
export function isInProcess({ metadata }: Pick<Shard, "metadata">): boolean {
  return metadata.annotations?.[IN_PROCESS_ANNOTATION] === "true";
}
