import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import { Namespace } from "../kinds/namespace.ts";
import { findNamespace, type NamespaceSources } from "../state/namespace-lookup.ts";

/** Returns a namespace of the request's logical cluster. @throws ApiError 404 if it does not exist */
export type NamespaceOf = (cluster: string, namespace: string) => Promise<KubeObject>;

/** Looks for namespaces on a shard. */
export function namespacesOn(shard: NamespaceSources): NamespaceOf {
  return async (cluster, name) => {
    const found = await findNamespace(cluster, name, shard);
    if (found === undefined) throw ApiError.notFound(groupResourceOf(Namespace), name);
    return found;
  };
}
