import { ApiError, CLUSTER_ANNOTATION, isWorkspacePath } from "@virtual-workspaces/apimachinery";
import {
  type Authorizer,
  allow,
  type Decision,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import { AUTHENTICATED } from "@virtual-workspaces/framework/authn";
import { SubjectAccessReview } from "@virtual-workspaces/framework/authz";
import type { Log } from "@virtual-workspaces/framework/server";
import { TENANCY_GROUP, Workspace } from "@virtual-workspaces/kcp";
import { OWNER_ANNOTATION, PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import type { ClusterParams } from "../authz/cluster-request.ts";
import { SubjectAccessReviews } from "../reviews/access-reviews.ts";
import { whenLoaded } from "../serving/served-shard.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { mergedKind, ReadWhole } from "./merged-kind.ts";
import { readerKey, TreeAccess, type TreeReader } from "./tree-access.ts";

/** Options of {@link treeView}. */
export interface TreeViewOptions {
  /** Shards whose workspaces are shown. */
  readonly registry: ShardRegistry;
  /** Resolves when the shards know their objects. */
  readonly ready: () => Promise<void>;
  readonly log: Log;
  /**
   * Maximum of concurrent readers. Each takes 2 KB per accessible workspace, until a minute after its last read, and all
   * together as much per existing workspace.
   *
   * @default 500
   */
  readonly readers?: number;
}

/**
 * Serves `/services/workspaces/clusters/<parent or *>`: the workspaces that the caller has access to, as one live tree. A
 * Workspace is shown as in its parent, with the parent's path in the annotation `kcp.io/path` and without its owner. Open
 * watches get ADDED for newly allowed Workspaces and DELETED for those no longer allowed. The view is read-only. The root of
 * the tree is no Workspace: users with access to `root` know it by that path.
 *
 * Security: users with access to a workspace see its labels and annotations here, even without rights in its parent.
 */
export function treeView({ registry, ready, log, readers = 500 }: TreeViewOptions): VirtualWorkspace {
  const access = new TreeAccess(registry);
  const shards = mergedKind(registry, { resource: Workspace, log });
  const authorize = treeAuthorizer(registry, access);
  const tree = view({
    from: shards.objects,
    to: Workspace,
    varyBy: ({ identity }): TreeReader => ({ reader: readerKey(identity) }),
    depends: access,
    select: (workspace, { variant }) => access.shows(variant, workspace),
    map: (workspace) => ({ ...workspace, metadata: { annotations: annotationsOf(workspace, access) } }),
    computations: readers,
    onError: (error, workspace) =>
      log({ level: "error", message: "failed to show workspace", workspace, error: String(error) }),
  });
  const review = authorize as unknown as Authorizer;
  const resources: readonly ServedResource[] = [
    Workspace.serve(new ReadWhole(tree), { verbs: ["get", "list", "watch"] }),
    SubjectAccessReview.serve(new SubjectAccessReviews({ authorizer: review, log })),
  ];
  return defineVirtualWorkspace({
    name: "workspaces",
    path: "/clusters/:cluster",
    wildcard: true,
    locate: (said) => whenLoaded(registry.whole(), () => locate(registry, said)),
    authorize: (question) => whenLoaded(registry.whole(), () => authorize(question)),
    resources: () => whenLoaded(registry.whole(), () => resources),
    ready,
    setup: () => ({
      [Symbol.dispose]: () => {
        access[Symbol.dispose]();
        shards[Symbol.dispose]();
      },
    }),
  });
}

function annotationsOf({ metadata }: Workspace, access: TreeAccess): Record<string, string> {
  const { [OWNER_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
  const path = access.pathOf(annotations[CLUSTER_ANNOTATION] ?? "");
  return path === undefined ? annotations : { ...annotations, [PATH_ANNOTATION]: path };
}

/** Resolves a name or path on any shard. @throws ApiError 400 on neither a name nor a path, 404 on an unknown path, 503 */
function locate({ index }: ShardRegistry, said: string): string {
  if (said.startsWith("system:") || !said.includes(":")) return said;
  if (!isWorkspacePath(said))
    throw ApiError.badRequest(`invalid cluster: ${JSON.stringify(said)} does not match the regex`);
  const found = index.lookup(said);
  if (found.kind === "cluster") return found.cluster;
  if (found.kind === "unavailable") throw ApiError.serviceUnavailable("Not available.");
  throw ApiError.notFound({ group: TENANCY_GROUP, resource: "workspaces" }, said);
}

/**
 * Authorizes readers of the tree. All authenticated users may list and watch, and see only accessible Workspaces, which they
 * may also get. Security: other Workspaces give the same answer whether or not they exist. Access reviews about other users
 * need permission in the workspace. Unserved requests, also writes, are allowed here, and then get 404 or 405.
 */
function treeAuthorizer(registry: ShardRegistry, access: TreeAccess): Authorizer<ClusterParams> {
  return (question) => {
    const { user, isResource, verb, path, group, resource, name, params } = question;
    if (!user.in(AUTHENTICATED)) return deny("log in to see workspaces");
    if (!isResource) return verb !== "access" || path !== "/" ? allow() : said(access.mayEnter(user, params.cluster));
    if (group === "authorization.k8s.io" && resource === "subjectaccessreviews") {
      const shard = registry.shardWith(params.cluster) ?? registry.shards[0];
      return shard?.authorizer(question) ?? said(false);
    }
    const isRead = group === TENANCY_GROUP && resource === "workspaces" && verb === "get";
    return isRead ? said(access.mayGet(user, params.cluster, name)) : allow();
  };
}

function said(allowed: boolean): Decision {
  return allowed ? allow() : deny("access denied");
}
