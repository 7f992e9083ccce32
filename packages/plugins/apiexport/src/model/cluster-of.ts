import { CLUSTER_ANNOTATION, type ObjectMeta } from "@virtual-workspaces/apimachinery";

/** The logical cluster that an object is in, as it says itself when all are asked at once; "" for one that does not. */
export function clusterOf({ annotations }: ObjectMeta): string {
  return annotations?.[CLUSTER_ANNOTATION] ?? "";
}
