import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { related } from "@virtual-workspaces/client";
import type { Source } from "@virtual-workspaces/client/queue";
import type { ResourceDefinition, TypedDefinition } from "@virtual-workspaces/framework";
import type { LogicalCluster } from "@virtual-workspaces/kcp";
import { OWNER_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { startController } from "../../controllers/shard-controllers.ts";
import { filterStates, withoutInitial } from "../../controllers/sources.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import { ensureNew, modify } from "../../state/modify.ts";
import { logicalClusterKey } from "../../state/shard-state.ts";
import { OWNER_BINDING, parseOwner } from "../model/owner.ts";

/** Written content of a ClusterRoleBinding. */
interface RoleBindingContent {
  subjects?: { kind: string; apiGroup?: string; name: string; namespace?: string }[];
  roleRef: { apiGroup: string; kind: string; name: string };
}

/** ClusterRoleBindings, for writes and events. */
export interface RoleBindings {
  readonly definition: ResourceDefinition;
  readonly informer: Source;
}

const RBAC = "rbac.authorization.k8s.io";

/**
 * Makes the owner of a logical cluster its administrator (kcp's controller `kcp-tenancy-logicalcluster`). It restores the
 * binding after a deletion or change.
 */
export function ownerBindingController(shard: ShardContext, { definition, informer }: RoleBindings): ShardController {
  const unbound = (object: LogicalCluster, cluster: string): string | undefined => {
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    const user = ownerName(object);
    return user === undefined || isBound(informer, cluster, user) ? undefined : user;
  };
  return startController<LogicalCluster>(shard, {
    name: "kcp-tenancy-logicalcluster",
    workers: 4,
    sources: [
      {
        informer: filterStates(
          shard.state.logicalClusters,
          (object, { cluster }) => unbound(object, cluster) !== undefined,
        ),
      },
      // Initially, the state of each logical cluster decides.
      related(withoutInitial(informer), (_, { cluster, name }) =>
        name === OWNER_BINDING ? [logicalClusterKey(cluster)] : [],
      ),
    ],
    reconcile: async ({ cluster }, { object }) => {
      const user = object && unbound(object, cluster);
      if (user !== undefined) await bindOwner(shard, { definition, cluster, user });
    },
  });
}

/** Whether the binding is as it should be, by the informer: saves reads, since a logical cluster changes often while it begins. */
function isBound({ store }: Source, cluster: string, user: string): boolean {
  const there = store.get({ cluster, namespace: "", name: OWNER_BINDING });
  if (there === undefined) return false;
  const { subjects, roleRef } = there as KubeObject & RoleBindingContent;
  return isDeepStrictEqual({ subjects, roleRef }, contentFor(user));
}

function contentFor(user: string): RoleBindingContent {
  return {
    subjects: [{ kind: "User", apiGroup: RBAC, name: user }],
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" },
  };
}

/** Ensures that a user is an administrator of a logical cluster, which most often has no such binding yet. */
export async function bindOwner(
  { objects }: Pick<ShardContext, "objects">,
  { definition, cluster, user }: Pick<RoleBindings, "definition"> & { readonly cluster: string; readonly user: string },
): Promise<void> {
  const content = contentFor(user);
  const collection = objects.of(definition as TypedDefinition<RoleBindingContent>);
  const key = { cluster, namespace: "", name: OWNER_BINDING };
  const { created } = await ensureNew(collection, key, () => content);
  if (created) return;
  await modify(collection, key, (binding) => {
    const { subjects, roleRef, metadata } = binding;
    if (metadata.deletionTimestamp !== undefined) return undefined;
    return isDeepStrictEqual({ subjects, roleRef }, content) ? undefined : { ...binding, ...content };
  });
}

function ownerName({ spec, metadata }: LogicalCluster): string | undefined {
  return spec.createdBy?.username || parseOwner(metadata.annotations?.[OWNER_ANNOTATION])?.username || undefined;
}
