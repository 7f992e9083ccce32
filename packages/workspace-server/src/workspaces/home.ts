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

/** What home workspaces are made with, on the root shard. */
export interface HomeOptions {
  readonly shard: ShardContext;
  /** Asked whether somebody who has none may have one: `create workspaces "~"` in `root`. */
  readonly isAllowed: IsAllowed;
  /** The kind ClusterRoleBinding. */
  readonly roleBindings: ResourceDefinition;
  readonly now?: () => Date;
}

/** What a user is answered who asks for their home. */
export type HomeAnswer =
  | { readonly kind: "ready"; readonly workspace: Workspace }
  /** It is being made: kcp answers 429 with `Retry-After` and this text, in plain text. */
  | { readonly kind: "creating"; readonly retryAfterSeconds: number; readonly message: string };

const WORKSPACES = { group: TENANCY_GROUP, resource: "workspaces" } as const;

/** The type of homes. */
const HOME_TYPE = `${ROOT_CLUSTER}:home`;

/** How long a home may take to be set up, ms. */
const SET_UP_WITHIN = 60_000;

/**
 * The home workspace of a user, made if there is none (kcp's `WithHomeWorkspaces`): the answer to
 * `GET /clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces/~`, which no other authorization is asked for. There is a
 * logical cluster behind it and no Workspace object.
 *
 * @throws ApiError 403 when the user may have none, 500 when it cannot be set up
 */
export async function homeWorkspace(user: User, options: HomeOptions): Promise<HomeAnswer> {
  const { shard, now = () => new Date() } = options;
  // Names of service accounts are those of others in other workspaces, and who is let into one workspace only has none.
  if (isServiceAccount(user) || !isInScope(user, ROOT_CLUSTER)) throw notPermitted(user);
  const collection = shard.objects.of(LogicalCluster);
  const cluster = homeClusterName(user.name);
  const key = logicalClusterKey(cluster);
  const found = await read(collection, key);
  if (found === undefined) await checkMayHave(user, options.isAllowed);
  const made = found ?? (await ensure(collection, key, () => contentOf(user, shard))).object;
  // Two names could have one hash: nobody is shown, or given, another's home.
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

/** It has neither type nor uid. */
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
