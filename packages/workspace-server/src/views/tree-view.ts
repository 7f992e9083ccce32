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

/** What {@link treeView} shows. */
export interface TreeViewOptions {
  /** The shards whose workspaces are shown. */
  readonly registry: ShardRegistry;
  /** Resolves once these know what they have. */
  readonly ready: () => Promise<void>;
  readonly log: Log;
  /**
   * The most users who read at once. Each takes 2 KB for each workspace that they may enter, for a minute longer than they
   * read, and all of them together as much for each workspace there is.
   *
   * @default 500
   */
  readonly readers?: number;
}

/**
 * `/services/workspaces/clusters/<parent or *>`: the workspaces that whoever asks may enter, as one live tree. A Workspace
 * is as it stands in its parent, with the path of that in the annotation `kcp.io/path`, and without who made it. What comes
 * to be allowed is ADDED in open watches, what is no more allowed is DELETED. Nothing can be written. The root of the tree
 * is no Workspace: it is there for those who may enter `root`, and known by that path.
 *
 * Who may enter a workspace sees it here, with its labels and annotations, whether or not they may read it in its parent.
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
      log({ level: "error", message: "workspace cannot be shown", workspace, error: String(error) }),
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

/** Wherever it is. @throws ApiError 400 on what is neither a name nor a path, 404 where that leads nowhere, 503 */
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
 * Whoever has logged in may list and watch, and finds what is theirs. A single Workspace may be read if it is in that list,
 * which says nothing of others: not whether they are there. Reviews about others are for whom the workspace allows them.
 * What is not served, writes too, is allowed: there is no such thing.
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
