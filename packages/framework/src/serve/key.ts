import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Exchange } from "../exchange.ts";

/** The object that a request names. */
export function keyOf({ cluster, info }: Exchange): ObjectKey {
  return { cluster, namespace: info.namespace, name: info.name };
}
