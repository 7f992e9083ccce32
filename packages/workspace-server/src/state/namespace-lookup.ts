import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { decodeObject } from "@virtual-workspaces/framework/storage";
import { Namespace, type NamespaceContent } from "../kinds/namespace.ts";
import { scopeOf } from "./informers/key-index.ts";
import type { ShardObjects } from "./objects.ts";
import type { ShardState } from "./shard-state.ts";

/** Sources of namespaces. */
export interface NamespaceSources {
  readonly objects: ShardObjects;
  readonly state: Pick<ShardState, "namespaces">;
}

/** Returns a namespace. Falls back to the store: the cache may lack a new one. @throws ApiError 503 */
export async function findNamespace(
  cluster: string,
  name: string,
  { objects, state }: NamespaceSources,
): Promise<(KubeObject & NamespaceContent) | undefined> {
  const key = { cluster, namespace: "", name };
  const known = state.namespaces.store.get(key);
  if (known !== undefined) return known;
  const kept = await objects.of(Namespace).get(scopeOf(key), key);
  return kept && (decodeObject(kept) as KubeObject & NamespaceContent);
}
