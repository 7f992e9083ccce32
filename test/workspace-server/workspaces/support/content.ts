// Content of a logical cluster for its deletion, in place of the server's kinds.
import { CLUSTER_ANNOTATION, type KubeObject } from "@virtual-workspaces/apimachinery";
import { decodeObject } from "@virtual-workspaces/framework/storage";
import { Partition, PartitionSet, Shard, Workspace, WorkspaceType } from "@virtual-workspaces/kcp";
import type { PersistentCollection } from "@virtual-workspaces/store";
import { modify, remove } from "../../../../packages/workspace-server/src/state/modify.ts";
import type { ShardObjects } from "../../../../packages/workspace-server/src/state/objects.ts";
import type { ShardPeer } from "../../../../packages/workspace-server/src/state/shard-peer.ts";
import type {
  Content,
  ContentKind,
} from "../../../../packages/workspace-server/src/workspaces/logical-cluster/content.ts";
import { ClusterRole, ClusterRoleBinding, Namespace, Widget } from "./kinds.ts";

/** Returns the kinds that are deleted with their logical cluster. */
export function contentCollections(objects: Pick<ShardPeer["objects"], "of">): PersistentCollection[] {
  return [
    objects.of(Namespace),
    objects.of(Widget),
    objects.of(Workspace),
    objects.of(WorkspaceType),
    objects.of(Partition),
    objects.of(PartitionSet),
    objects.of(Shard),
    objects.of(ClusterRole),
    objects.of(ClusterRoleBinding),
  ] as unknown as PersistentCollection[];
}

/** Returns the stored objects of a kind. @param cluster default: all */
export async function objectsOf(collection: PersistentCollection, cluster?: string): Promise<KubeObject[]> {
  using lease = await collection.cache();
  await lease.confirm?.({ signal: AbortSignal.timeout(10_000) });
  const all = [...lease.cache.snapshot().objects.values()].map((encoded) => decodeObject(encoded));
  return all.filter(({ metadata }) => cluster === undefined || metadata.annotations?.[CLUSTER_ANNOTATION] === cluster);
}

export function contentOf(objects: ShardObjects, cluster: string): Content {
  const collections = contentCollections(objects);
  const of = ({ resource }: ContentKind): PersistentCollection =>
    collections.find((collection) => collection.resource.plural === resource) as PersistentCollection;
  return {
    kinds: () =>
      collections.map(({ resource: { group, plural } }) => ({
        group,
        resource: plural,
        namespaced: false,
        bound: false,
        deletable: true,
      })),
    async deleteAll(kind) {
      for (const { metadata } of await objectsOf(of(kind), cluster)) {
        const key = { cluster, namespace: "", name: metadata.name ?? "" };
        await remove(of(kind), key, metadata.uid);
        // Another controller empties namespaces and removes their finalizer.
        if (kind.resource === Namespace.plural)
          await modify(of(kind), key, (namespace) => ({ ...namespace, spec: {} }));
      }
    },
    remaining: (kind) => objectsOf(of(kind), cluster),
  };
}
