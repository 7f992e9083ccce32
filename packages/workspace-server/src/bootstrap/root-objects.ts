import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import type { RbacObject } from "@virtual-workspaces/framework/authz";
import { ROOT_CLUSTER, TENANCY_GROUP } from "@virtual-workspaces/kcp";
import { AUTHENTICATED_GROUP, BINDING_SUBJECT_PREFIX, KCP_ADMIN_GROUP } from "@virtual-workspaces/kcp/users";
import type { ShardContext } from "../state/context.ts";
import { type Draft, ensure, modify } from "../state/modify.ts";
import { UNIVERSAL_BINDINGS } from "../workspaces/model/workspace-types.ts";

/** Annotation of bootstrap objects that a startup does not change once they exist. */
export const CREATE_ONLY_ANNOTATION = "bootstrap.kcp.io/create-only";
/** Annotation of bootstrap objects that belong to a battery. */
const BATTERY_ANNOTATION = "bootstrap.kcp.io/battery";

/** Workspace type that the server creates at startup. */
export interface ShippedType {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: object;
}

const inRoot = (name: string): { readonly name: string; readonly path: string } => ({ name, path: ROOT_CLUSTER });
const universal = { with: [inRoot("universal")] };
const workspaceTypes = { [BATTERY_ANNOTATION]: "workspace-types" };

/** Workspace types in `root`, as kcp ships them with its default batteries. */
export const shippedTypes: readonly ShippedType[] = [
  {
    name: "universal",
    annotations: {},
    spec: {
      initializer: true,
      defaultChildWorkspaceType: inRoot("universal"),
      defaultAPIBindings: UNIVERSAL_BINDINGS,
    },
  },
  {
    name: "root",
    annotations: { [CREATE_ONLY_ANNOTATION]: "true" },
    spec: {
      extend: universal,
      defaultChildWorkspaceType: inRoot("organization"),
      limitAllowedParents: { none: true },
    },
  },
  {
    name: "organization",
    annotations: workspaceTypes,
    spec: {
      extend: universal,
      defaultChildWorkspaceType: inRoot("universal"),
      limitAllowedChildren: { types: [inRoot("universal")] },
      limitAllowedParents: { types: [inRoot("root")] },
    },
  },
  {
    name: "team",
    annotations: workspaceTypes,
    spec: {
      extend: universal,
      defaultChildWorkspaceType: inRoot("universal"),
      limitAllowedParents: { types: [inRoot("organization"), inRoot("team")] },
    },
  },
  {
    name: "home",
    annotations: {},
    spec: { extend: universal, defaultChildWorkspaceType: inRoot("universal"), limitAllowedParents: { none: true } },
  },
];

const AUTHORIZATION = "rbac.authorization.k8s.io";

function role(name: string, rules: readonly object[]): RbacObject {
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: "ClusterRole", metadata: { name }, rules } as unknown as RbacObject;
}

function binding(name: string, roleName: string, ...groups: readonly string[]): RbacObject {
  return {
    apiVersion: `${AUTHORIZATION}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: AUTHORIZATION, kind: "ClusterRole", name: roleName },
    subjects: groups.map((group) => ({ apiGroup: AUTHORIZATION, kind: "Group", name: group })),
  } as unknown as RbacObject;
}

const bind = (name: string): readonly object[] => [
  { apiGroups: ["apis.kcp.io"], resources: ["apiexports"], verbs: ["bind"], resourceNames: [name] },
];
const EVERYBODY = AUTHENTICATED_GROUP;
const BOUND = `${BINDING_SUBJECT_PREFIX}${AUTHENTICATED_GROUP}`;
const READ = ["list", "watch", "get"];

const ROLES: readonly RbacObject[] = [
  binding("system:kcp:tenancy:authenticated:access", "system:kcp:workspace:access", EVERYBODY),
  binding("system:kcp:authenticated:tenancy:reader", "system:kcp:tenancy:reader", EVERYBODY),
  role("system:kcp:universal-workspacetype-use", [
    {
      apiGroups: [TENANCY_GROUP],
      resources: ["workspacetypes"],
      verbs: ["use"],
      resourceNames: ["universal", "organization", "team"],
    },
  ]),
  binding("system:kcp:authenticated:universal-workspacetype-use", "system:kcp:universal-workspacetype-use", EVERYBODY),
  role("system:kcp:apiexport:tenancy:bind", bind("tenancy.kcp.io")),
  binding("system:kcp:authenticated:apiexport:tenancy:bind", "system:kcp:apiexport:tenancy:bind", EVERYBODY),
  role("system:kcp:apiexport:topology:bind", bind("topology.kcp.io")),
  binding("system:kcp:authenticated:apiexport:topology:bind", "system:kcp:apiexport:topology:bind", EVERYBODY),
  role("system:kcp:apiexport:tenancy:maximal-permission-policy", [
    {
      apiGroups: [TENANCY_GROUP],
      resources: ["workspaces", "workspaceauthenticationconfigurations", "workspacetypes"],
      verbs: ["*"],
    },
    { apiGroups: [TENANCY_GROUP], resources: ["workspaces/status", "workspacetypes/status"], verbs: READ },
  ]),
  binding(
    "system:kcp:authenticated:apiexport:tenancy:maximal-permission-policy",
    "system:kcp:apiexport:tenancy:maximal-permission-policy",
    BOUND,
  ),
  role("system:kcp:apiexport:topology:maximal-permission-policy", [
    { apiGroups: ["topology.kcp.io"], resources: ["partitions", "partitionsets"], verbs: ["*"] },
  ]),
  binding(
    "system:kcp:authenticated:apiexport:topology:maximal-permission-policy",
    "system:kcp:apiexport:topology:maximal-permission-policy",
    BOUND,
  ),
  role("system:kcp:apiexport:kcp-admin:maximal-permission-policy", [
    { apiGroups: [TENANCY_GROUP], resources: ["*"], verbs: ["*"] },
  ]),
  binding(
    "system:kcp:authenticated:apiexport:kcp-admin:maximal-permission-policy",
    "system:kcp:apiexport:kcp-admin:maximal-permission-policy",
    `${BINDING_SUBJECT_PREFIX}${KCP_ADMIN_GROUP}`,
  ),
  role("system:kcp:home-clusterworkspace-create", [
    { apiGroups: [TENANCY_GROUP], resources: ["workspaces"], verbs: ["get", "create"], resourceNames: ["~"] },
  ]),
];

/**
 * Returns the RBAC objects of `root`: all authenticated users may enter and read, but only users with more permissions
 * may create.
 *
 * @param homeCreators groups whose members may have a home workspace
 */
export function rootRoles(homeCreators: readonly string[]): readonly RbacObject[] {
  const name = "system:kcp:configured-group:home-clusterworkspace-create";
  return [...ROLES, binding(name, "system:kcp:home-clusterworkspace-create", ...homeCreators)];
}

/** Bootstrap object with its key. */
interface Put<T extends object> {
  readonly key: ObjectKey;
  readonly content: Draft<T>;
}

/** Creates an object, or resets it to its shipped content; keeps labels and annotations of users, and the status. */
export async function put<T extends object>(
  { objects }: Pick<ShardContext, "objects">,
  kind: TypedDefinition<T>,
  { key, content }: Put<T>,
): Promise<void> {
  const collection = objects.of(kind);
  const { object, created } = await ensure(collection, key, () => content);
  if (created || object.metadata.annotations?.[CREATE_ONLY_ANNOTATION] !== undefined) return;
  const { metadata = {}, status: _status, ...shipped } = content as Draft<T> & { readonly status?: unknown };
  await modify(collection, key, (kept) => ({
    ...kept,
    ...shipped,
    metadata: {
      ...kept.metadata,
      labels: { ...kept.metadata.labels, ...metadata.labels },
      annotations: { ...kept.metadata.annotations, ...metadata.annotations },
    },
  }));
}

/** Returns the key of a cluster-scoped object. */
export function placeOf(cluster: string, name: string): ObjectKey {
  return { cluster, namespace: "", name };
}
