import { ApiError, apiVersionOf, forbiddenFor } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition, User } from "@virtual-workspaces/framework";
import {
  HOME_PATH_PREFIX,
  homeClusterName,
  LOGICAL_CLUSTER_NAME,
  LogicalCluster,
  ROOT_CLUSTER,
  TENANCY_GROUP,
  Workspace,
} from "@virtual-workspaces/kcp";
import {
  LOGICAL_CLUSTER_DELETION_FINALIZER,
  OWNER_ANNOTATION,
  PATH_ANNOTATION,
  WORKSPACE_TYPE_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import { isServiceAccount } from "@virtual-workspaces/kcp/users";
import type { IsAllowed } from "../authz/access.ts";
import { isInScope } from "../authz/effective-users.ts";
import type { ShardContext } from "../state/context.ts";
import { ensure, modify, read } from "../state/modify.ts";
import { logicalClusterKey } from "../state/shard-state.ts";
import { bindOwner } from "./logical-cluster/owner-binding.ts";
import { ownerText, ownerUser } from "./model/owner.ts";
import { begun, phaseOf } from "./model/phases.ts";
import { initializersOf, WorkspaceTypes } from "./model/workspace-types.ts";

/** Options of home workspaces, on the root shard. */
export interface HomeOptions {
  readonly shard: ShardContext;
  /** Authorizes the creation of a home workspace: `create workspaces "~"` in `root`. */
  readonly isAllowed: IsAllowed;
  /** Kind ClusterRoleBinding. */
  readonly roleBindings: ResourceDefinition;
  readonly now?: () => Date;
}

/** Answer to a request for the caller's home workspace. */
export type HomeAnswer =
  | { readonly kind: "ready"; readonly workspace: Workspace }
  /** The home workspace is being created: kcp answers 429 with `Retry-After` and this text, in plain text. */
  | { readonly kind: "creating"; readonly retryAfterSeconds: number; readonly message: string };

const WORKSPACES = { group: TENANCY_GROUP, resource: "workspaces" } as const;

/** Workspace type of home workspaces. */
const HOME_TYPE = `${ROOT_CLUSTER}:home`;

/** Time limit of the initialization of a home workspace, in milliseconds. */
const SET_UP_WITHIN = 60_000;

/**
 * Returns the home workspace of a user, and creates it if missing (kcp's `WithHomeWorkspaces`): the answer to `GET
 * /clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces/~`, which needs no other authorization. It has a logical cluster,
 * but no Workspace object.
 *
 * @throws ApiError 403 when the user may have none, 500 when it cannot be initialized
 */
export async function homeWorkspace(user: User, options: HomeOptions): Promise<HomeAnswer> {
  const { shard, now = () => new Date() } = options;
  // Security: a service account's name exists in every workspace; a user scoped to other workspaces must not get one either.
  if (isServiceAccount(user) || !isInScope(user, ROOT_CLUSTER)) throw notPermitted(user);
  const collection = shard.objects.of(LogicalCluster);
  const cluster = homeClusterName(user.name);
  const key = logicalClusterKey(cluster);
  const found = await read(collection, key);
  if (found === undefined) await checkMayHave(user, options.isAllowed);
  const made = found ?? (await ensure(collection, key, () => contentOf(user, shard))).object;
  // Security: hashes of two names could collide, so the owner is compared.
  if (made.spec.createdBy?.username !== user.name) throw notPermitted(user);
  let home: LogicalCluster | undefined = made;
  if (phaseOf(made) === "Scheduling") {
    await bindOwner(shard, { definition: options.roleBindings, cluster, user: user.name });
    home = await modify(collection, key, begun);
  }
  if (home === undefined || phaseOf(home) === "Initializing" || phaseOf(home) === "Scheduling") {
    if (now().getTime() - Date.parse(made.metadata.creationTimestamp ?? "") > SET_UP_WITHIN)
      throw ApiError.internalError("home workspace creation timeout");
    return { kind: "creating", retryAfterSeconds: 1, message: "Creating the home workspace" };
  }
  return { kind: "ready", workspace: shown(home, cluster) };
}

async function checkMayHave(user: User, isAllowed: IsAllowed): Promise<void> {
  const access = { ...WORKSPACES, verb: "create", version: "v1alpha1", name: "~" };
  if (!(await isAllowed(user, ROOT_CLUSTER, access))) throw notPermitted(user);
}

function notPermitted({ name }: User): ApiError {
  const reason = "workspace access not permitted";
  return forbiddenFor({ user: name, verb: "create", resource: WORKSPACES, name: "~", reason });
}

function contentOf(user: User, { registry }: ShardContext) {
  const types = new WorkspaceTypes(registry);
  const aliases = types.aliases(types.get(HOME_TYPE));
  const initializers = initializersOf(aliases);
  return {
    metadata: {
      annotations: {
        [OWNER_ANNOTATION]: ownerText(user),
        [WORKSPACE_TYPE_ANNOTATION]: HOME_TYPE,
        [PATH_ANNOTATION]: `${HOME_PATH_PREFIX}:${user.name}`,
      },
      finalizers: [LOGICAL_CLUSTER_DELETION_FINALIZER],
    },
    spec: {
      directlyDeletable: false,
      createdBy: ownerUser(user),
      ...(initializers.length > 0 && { initializers }),
    },
    status: { phase: "Scheduling" as const },
  };
}

/** Without a type and uid. */
function shown({ metadata, status = {} }: LogicalCluster, cluster: string): Workspace {
  const { phase, conditions, initializers, URL: url } = status;
  const { creationTimestamp } = metadata;
  return {
    apiVersion: apiVersionOf(Workspace),
    kind: Workspace.kind,
    metadata: { name: LOGICAL_CLUSTER_NAME, ...(creationTimestamp !== undefined && { creationTimestamp }) },
    spec: { cluster, ...(url !== undefined && { URL: url }) },
    status: {
      ...(phase !== undefined && { phase }),
      ...(conditions !== undefined && { conditions }),
      ...(initializers !== undefined && { initializers }),
    },
  };
}
