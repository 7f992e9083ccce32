import type { RbacObject } from "@virtual-workspaces/framework/authz";
import { LogicalCluster, ROOT_CLUSTER, Shard, SYSTEM_ADMIN_CLUSTER, WorkspaceType } from "@virtual-workspaces/kcp";
import {
  LOGICAL_CLUSTER_DELETION_FINALIZER,
  OWNER_ANNOTATION,
  PATH_ANNOTATION,
  SHARD_NAME_LABEL,
  WORKSPACE_TYPE_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { bootstrapRoles } from "../authz/bootstrap-roles.ts";
import { Namespace } from "../kinds/namespace.ts";
import { ClusterRole, ClusterRoleBinding } from "../kinds/rbac.ts";
import type { ShardContext } from "../state/context.ts";
import { ensure, modify } from "../state/modify.ts";
import type { ShardPeer } from "../state/shard-peer.ts";
import { logicalClusterKey } from "../state/shard-state.ts";
import { CREATE_ONLY_ANNOTATION, placeOf, put, rootRoles, shippedTypes } from "./root-objects.ts";
import { shipExports } from "./system-apis.ts";

/** Owner of bootstrap objects (kcp's name). No user logs in with this name. */
const BOOTSTRAPPER = "system:kcp-bootstrapper";

/** Server options that change the bootstrap objects. */
export interface BootstrapOptions {
  /** Groups whose members may have a home workspace. */
  readonly homeCreators: readonly string[];
  /** Whether `root` has the kinds of `cache.kcp.io` (kcp's feature gate `CacheAPIs`). */
  readonly cachedResources: boolean;
}

/**
 * Creates the bootstrap objects: the roles in `system:admin` and, on the shard `root`, the workspace `root` with its
 * exports, types and roles. Call it before the shard's informers start. Existing objects are reset to their shipped
 * content, unless an annotation says that they are only created.
 */
export async function bootstrap(context: ShardContext, options: BootstrapOptions): Promise<void> {
  for (const object of bootstrapRoles) await ship(context, { cluster: SYSTEM_ADMIN_CLUSTER, object });
  if (context.name !== ROOT_CLUSTER) return;
  await rootCluster(context);
  context.registry.setIdentities(await shipExports(context, options));
  for (const object of rootRoles(options.homeCreators)) await ship(context, { cluster: ROOT_CLUSTER, object });
  for (const { name, annotations, spec } of shippedTypes) {
    const metadata = { annotations: { ...annotations, [PATH_ANNOTATION]: ROOT_CLUSTER } };
    await put(context, WorkspaceType, { key: placeOf(ROOT_CLUSTER, name), content: { metadata, spec } });
  }
  await put(context, Namespace, {
    key: placeOf(ROOT_CLUSTER, "default"),
    content: {
      metadata: {
        labels: { "kubernetes.io/metadata.name": "default" },
        annotations: { [CREATE_ONLY_ANNOTATION]: "true" },
      },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    },
  });
}

/** Writes the URLs of a shard to `root` (kcp's self registration). */
export async function register(
  root: Pick<ShardPeer, "objects">,
  { name, urls }: Pick<ShardPeer, "name" | "urls">,
): Promise<void> {
  const at = placeOf(ROOT_CLUSTER, name);
  const shards = root.objects.of(Shard);
  const { created } = await ensure(shards, at, () => ({
    metadata: { labels: { [SHARD_NAME_LABEL]: name } },
    spec: { ...urls },
  }));
  if (created) return;
  await modify(shards, at, (shard) => ({
    ...shard,
    metadata: { ...shard.metadata, labels: { [SHARD_NAME_LABEL]: name, ...shard.metadata.labels } },
    spec: { ...shard.spec, ...urls },
  }));
}

async function rootCluster({ objects }: ShardContext): Promise<void> {
  await ensure(objects.of(LogicalCluster), logicalClusterKey(ROOT_CLUSTER), () => ({
    metadata: {
      annotations: {
        [WORKSPACE_TYPE_ANNOTATION]: `${ROOT_CLUSTER}:root`,
        [OWNER_ANNOTATION]: JSON.stringify({ username: BOOTSTRAPPER }),
      },
      finalizers: [LOGICAL_CLUSTER_DELETION_FINALIZER],
    },
    spec: { directlyDeletable: false },
    status: { phase: "Initializing" as const },
  }));
}

interface Shipped {
  readonly cluster: string;
  readonly object: RbacObject;
}

async function ship(context: ShardContext, { cluster, object }: Shipped): Promise<void> {
  const { metadata, apiVersion: _version, kind, ...content } = object;
  const { name, ...rest } = metadata;
  const at = placeOf(cluster, name);
  if (kind === "ClusterRole")
    await put(context, ClusterRole, { key: at, content: { ...content, metadata: rest } as never });
  else await put(context, ClusterRoleBinding, { key: at, content: { ...content, metadata: rest } as never });
}
