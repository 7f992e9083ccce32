import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { ControllerOptions, Source } from "@virtual-workspaces/client";
import type { Installation } from "../state/shard-registry.ts";
import { reconcileKnown } from "./reconcile-known.ts";

type Reconcile<T extends KubeObject> = ControllerOptions<T>["reconcile"];

/** Makes a reconcile of objects wait until all is known of their logical cluster. */
export type Known = <T extends KubeObject>(of: Source<T>, reconcile: Reconcile<T>) => Reconcile<T>;

/** The same for the logical clusters of an installation. */
export function knownIn(installation: Pick<Installation, "load">): Known {
  return ({ store }, reconcile) => reconcileKnown({ installation, store }, reconcile);
}
