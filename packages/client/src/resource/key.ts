import { CLUSTER_ANNOTATION, type KubeObject, type ObjectKey, WILDCARD } from "@virtual-workspaces/apimachinery";

/**
 * Which object this is, among those that a client sees: in all logical clusters (`*`) names alone are not unique, and the
 * cluster is what the server says in the annotation `kcp.io/cluster`.
 *
 * @param of the client, or the resource, that the object came from
 * @throws Error in `*`, on an object that does not say its cluster
 */
export function keyOf(
  { metadata: { annotations, namespace = "", name = "" } }: Pick<KubeObject, "metadata">,
  of: { readonly clusterName: string },
): ObjectKey {
  if (of.clusterName !== WILDCARD) return { cluster: of.clusterName, namespace, name };
  const cluster = annotations?.[CLUSTER_ANNOTATION];
  if (cluster === undefined || cluster === "")
    throw new Error(
      `an object called ${JSON.stringify(name)} of all logical clusters does not say which is its own: the server must set the annotation ${CLUSTER_ANNOTATION}`,
    );
  return { cluster, namespace, name };
}
