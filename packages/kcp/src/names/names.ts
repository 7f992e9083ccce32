import { randomBytes } from "node:crypto";
import { CLUSTER_ANNOTATION, type KubeObject } from "@virtual-workspaces/apimachinery";
import { base36, base62, sha224 } from "./hashes.ts";

/** The logical cluster that the tree of workspaces begins with (kcp's `core.RootCluster`). */
export const ROOT_CLUSTER = "root";

/** The shard that holds {@link ROOT_CLUSTER} (`corev1alpha1.RootShard`). */
export const ROOT_SHARD = "root";

/** In the place of a logical cluster: what no workspace type stands behind, as in `system:apibindings` (`core.SystemCluster`). */
export const SYSTEM_CLUSTER = "system";

/** The logical cluster where an administrator of a shard works. */
export const SYSTEM_ADMIN_CLUSTER = "system:admin";

/** Where a shard keeps the CRDs of schemas that are bound on it (`SystemBoundCRDsClusterName`). */
export const BOUND_CRDS_CLUSTER = "system:bound-crds";

/** Where a shard keeps the CRDs that all its logical clusters have (`SystemCRDClusterName`). */
export const SYSTEM_CRDS_CLUSTER = "system:system-crds";

/** The name of the one LogicalCluster in a logical cluster (`LogicalClusterName`). */
export const LOGICAL_CLUSTER_NAME = "cluster";

/** The initializer that waits for the default bindings of a workspace type (`WorkspaceAPIBindingsInitializer`). */
export const API_BINDINGS_INITIALIZER = "system:apibindings";

/** The namespace of the secrets that hold exports' identities (`DefaultIdentitySecretNamespace`). */
export const IDENTITY_SECRET_NAMESPACE = "kcp-system";

/** Under which key such a secret holds the identity (`SecretKeyAPIExportIdentity`). */
export const IDENTITY_SECRET_KEY = "key";

/** What no WorkspaceType may be called (`WorkspaceTypeReservedNames`). */
export const RESERVED_WORKSPACE_TYPE_NAMES: readonly string[] = ["any", "system"];

/** Instead of the first names of a path: the home workspace of the user whose name follows, `user:alice:team`. */
export const HOME_PATH_PREFIX = "user";

/** Workspace, WorkspaceType, WorkspaceAuthenticationConfiguration. */
export const TENANCY_GROUP = "tenancy.kcp.io";

/** LogicalCluster, Shard. */
export const CORE_GROUP = "core.kcp.io";

/** Partition, PartitionSet. */
export const TOPOLOGY_GROUP = "topology.kcp.io";

/** APIResourceSchema, APIExport, APIBinding, APIExportEndpointSlice, APIConversion. */
export const APIS_GROUP = "apis.kcp.io";

/** ClusterCachedResource and its endpoint slices. */
export const CACHE_GROUP = "cache.kcp.io";

/** LogicalClusterMigration. */
export const MIGRATION_GROUP = "migration.kcp.io";

/**
 * `true`: a SubjectAccessReview that skips the checks of required groups, of access to the workspace, and of maximal
 * permission policies. Heeded of `system:masters` only.
 */
export const DEEP_REVIEW_HEADER = "X-Kcp-Internal-Deep-SubjectAccessReview";

/** How a shard asks itself for discovery of `/api/v1` without what it adds. */
export const CORE_DISCOVERY_HEADER = "X-Kcp-Api-V1-Discovery-Passthrough";

const TOKEN_BYTES = 32;
const RANDOM_LENGTH = 16;
const HOME_BYTES = 8;

/**
 * A name for the logical cluster of a new workspace: 16 characters of `0-9a-z`, 82 random bits (kcp's
 * `randomClusterName`). Two that are equal are not impossible: kcp creates the LogicalCluster, and where one is there
 * with another owner, takes another name.
 *
 * @param token from what it is made; default: 32 random bytes. Who can guess a token knows the name, which protects nothing
 */
export const newClusterName = (token: Uint8Array = randomBytes(TOKEN_BYTES)): string =>
  base36(sha224(token)).slice(0, RANDOM_LENGTH);

/**
 * The logical cluster of a user's home workspace, the same on every shard and in every installation (kcp's
 * `HomeClusterName`): `alice` has `v1u4alow0iv9`. 64 bits of a hash: not a secret, and not a proof of who it belongs to.
 */
export const homeClusterName = (user: string): string => base36(sha224(user).subarray(0, HOME_BYTES));

/**
 * The name of the logical cluster that an object is in, as the object says in `kcp.io/cluster` (kcp's `logicalcluster.From`):
 * every object that a server of workspaces keeps says so. "" for one that does not. Believe it of what such a server
 * answers, and of nothing that a client has sent.
 */
export function clusterOf({ metadata }: Pick<KubeObject, "metadata">): string {
  return metadata.annotations?.[CLUSTER_ANNOTATION] ?? "";
}

const HASH_LENGTH = 5;
/** A name has 253 characters at most; one is the dash. */
const LONGEST_PREFIX = 253 - 1 - HASH_LENGTH;

/** Which binding a workspace type makes. */
export interface DefaultBinding {
  /** The logical cluster that is bound in, by name. */
  readonly cluster: string;
  /** Where the export is, as the WorkspaceType says it. */
  readonly exportPath: string;
  /** The export's name. */
  readonly exportName: string;
}

/** The name of an APIBinding that a workspace type's `defaultAPIBindings` make (kcp's `GenerateAPIBindingName`). */
export function defaultBindingName({ cluster, exportPath, exportName }: DefaultBinding): string {
  const hash = base62(sha224(`${cluster}|${exportPath}|${exportName}`));
  return `${exportName.slice(0, LONGEST_PREFIX)}-${hash.slice(0, HASH_LENGTH).toLowerCase()}`;
}

/** Which WorkspaceType an initializer or a terminator stands for. */
export interface OwningType {
  /** The logical cluster that the type is in, by name; `system` where no type stands behind it. */
  readonly cluster: string;
  /** The type's name. */
  readonly name: string;
}

/**
 * The name of a type's initializer, and of its terminator: `<cluster>:<type>` (kcp's `InitializerForType`,
 * `TerminatorForType`). In URLs it is one segment.
 */
export const lifecycleName = ({ cluster, name }: OwningType): string => `${cluster}:${name}`;

/**
 * The type that an initializer or a terminator is of, split at the last colon (kcp's `TypeFrom`); undefined for what has
 * none, which kcp answers with 500.
 */
export function parseLifecycleName(text: string): OwningType | undefined {
  const colon = text.lastIndexOf(":");
  return colon < 0 ? undefined : { cluster: text.slice(0, colon), name: text.slice(colon + 1) };
}

/**
 * The URL of a logical cluster or workspace on a server: `https://host/clusters/root:org`. What kcp writes into
 * `Workspace.spec.URL` (with the shard's external URL and the canonical path) and asks shards with (their base URL, the
 * name). Neither argument is checked.
 *
 * @param baseURL with or without a slash at its end
 */
export const clusterURL = (baseURL: string, cluster: string): string =>
  `${baseURL.endsWith("/") ? baseURL.slice(0, -1) : baseURL}/clusters/${cluster}`;

/**
 * The URL of a view on a shard, as it is published: `https://host/services/apiexport/root/widgets`, to which clients add
 * `/clusters/<name>` or `/clusters/*`. A path of the shard's URL is kept, as in kcp. No argument is checked.
 *
 * @param baseURL where the shard's virtual workspaces are, `spec.virtualWorkspaceURL` of its Shard; with or without a slash at its end
 * @param path the name of the view, and what follows it, segment by segment
 */
export const viewURL = (baseURL: string, ...path: readonly string[]): string =>
  [baseURL.endsWith("/") ? baseURL.slice(0, -1) : baseURL, "services", ...path].join("/");
