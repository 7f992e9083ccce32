import { CLUSTER_ANNOTATION, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";

/** The key of an object: its cluster is what its annotation `kcp.io/cluster` says. */
export function keyOf({ metadata }: KubeObject): ObjectKey {
  const { name = "", namespace = "", annotations = {} } = metadata;
  return { cluster: annotations[CLUSTER_ANNOTATION] ?? "", namespace, name };
}

/** A key as one text, the same for equal keys only: `cluster|namespace/name`. None of the parts can have these characters. */
export function keyText({ cluster, namespace, name }: ObjectKey): string {
  return `${cluster}|${namespace}/${name}`;
}
