import { CLUSTER_ANNOTATION, type KubeObject } from "@virtual-workspaces/apimachinery";

/** Of an object, what says which it is, and in which version. */
export function slim<T extends KubeObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion, annotations } = metadata;
  const cluster = annotations?.[CLUSTER_ANNOTATION];
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(namespace !== undefined && { namespace }),
      ...(cluster !== undefined && { annotations: { [CLUSTER_ANNOTATION]: cluster } }),
    },
  } as unknown as T;
}
