import type { ObjectKey } from "@virtual-workspaces/apimachinery";

/** A key as one text, the same for equal keys only: `cluster|namespace/name`. None of the parts can have these characters. */
export function keyText({ cluster, namespace, name }: ObjectKey): string {
  return `${cluster}|${namespace}/${name}`;
}
