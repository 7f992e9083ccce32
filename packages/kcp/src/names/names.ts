import { randomBytes } from "node:crypto";
import { CLUSTER_ANNOTATION, type KubeObject } from "@virtual-workspaces/apimachinery";
import { base36, base62, remembered, sha224 } from "./hashes.ts";

/** Root logical cluster of the workspace tree (kcp's `core.RootCluster`). */
export const ROOT_CLUSTER = "root";

/** Shard of {@link ROOT_CLUSTER} (`corev1alpha1.RootShard`). */
export const ROOT_SHARD = "root";

/** Replaces the logical cluster in names without a workspace type, such as `system:apibindings` (`core.SystemCluster`). */
export const SYSTEM_CLUSTER = "system";

/** Logical cluster for administrators of a shard. */
export const SYSTEM_ADMIN_CLUSTER = "system:admin";

/** Logical cluster with the CRDs of schemas that are bound on a shard (`SystemBoundCRDsClusterName`). */
export const BOUND_CRDS_CLUSTER = "system:bound-crds";

/** Logical cluster with the CRDs that all logical clusters of a shard have (`SystemCRDClusterName`). */
export const SYSTEM_CRDS_CLUSTER = "system:system-crds";

/** Name of the only LogicalCluster in a logical cluster (`LogicalClusterName`). */
export const LOGICAL_CLUSTER_NAME = "cluster";

/** Initializer that waits for the default bindings of a workspace type (`WorkspaceAPIBindingsInitializer`). */
export const API_BINDINGS_INITIALIZER = "system:apibindings";

/** Namespace of the Secrets with identities of exports (`DefaultIdentitySecretNamespace`). */
export const IDENTITY_SECRET_NAMESPACE = "kcp-system";

/** Key of the identity in such a Secret (`SecretKeyAPIExportIdentity`). */
export const IDENTITY_SECRET_KEY = "key";

/** Names that no WorkspaceType may have (`WorkspaceTypeReservedNames`). */
export const RESERVED_WORKSPACE_TYPE_NAMES: readonly string[] = ["any", "system"];

/** First segment of a path in a user's home workspace, before the user's name: `user:alice:team`. */
export const HOME_PATH_PREFIX = "user";

/** API group of Workspace, WorkspaceType and WorkspaceAuthenticationConfiguration. */
export const TENANCY_GROUP = "tenancy.kcp.io";

/** API group of LogicalCluster and Shard. */
export const CORE_GROUP = "core.kcp.io";

/** API group of Partition and PartitionSet. */
export const TOPOLOGY_GROUP = "topology.kcp.io";

/** API group of APIResourceSchema, APIExport, APIBinding, APIExportEndpointSlice and APIConversion. */
export const APIS_GROUP = "apis.kcp.io";

/** API group of ClusterCachedResource and its endpoint slices. */
export const CACHE_GROUP = "cache.kcp.io";

/** API group of LogicalClusterMigration. */
export const MIGRATION_GROUP = "migration.kcp.io";

/**
 * Header `true` of a SubjectAccessReview that skips the checks of required groups, workspace access and maximal permission
 * policies. Honored only for `system:masters`.
 */
export const DEEP_REVIEW_HEADER = "X-Kcp-Internal-Deep-SubjectAccessReview";

/** Header of a shard's request to itself for discovery of `/api/v1` without its own additions. */
export const CORE_DISCOVERY_HEADER = "X-Kcp-Api-V1-Discovery-Passthrough";

const TOKEN_BYTES = 32;
const RANDOM_LENGTH = 16;
const HOME_BYTES = 8;

/**
 * Returns a name for the logical cluster of a new workspace: 16 characters of `0-9a-z`, 82 random bits (kcp's `randomClusterName`).
 * Collisions are possible: kcp creates the LogicalCluster, and takes another name if one with another owner exists.
 *
 * @param token source of the name; default: 32 random bytes. A guessable token only makes the name guessable, which is no secret
 */
export const newClusterName = (token: Uint8Array = randomBytes(TOKEN_BYTES)): string =>
  base36(sha224(token)).slice(0, RANDOM_LENGTH);

/**
 * Returns the logical cluster of a user's home workspace, the same on every shard and server (kcp's `HomeClusterName`):
 * `v1u4alow0iv9` for `alice`. Security: it is 64 bits of a hash, neither a secret nor a proof of ownership.
 */
export const homeClusterName = (user: string): string => base36(sha224(user).subarray(0, HOME_BYTES));

/**
 * Returns the name of an object's logical cluster from its annotation `kcp.io/cluster` (kcp's `logicalcluster.From`); "" without it.
 * A workspace server sets it on every stored object. Security: trust it only in responses of such a server, never in client input.
 */
export function clusterOf({ metadata }: Pick<KubeObject, "metadata">): string {
  return metadata.annotations?.[CLUSTER_ANNOTATION] ?? "";
}

const HASH_LENGTH = 5;
/** A name has at most 253 characters, one of which is the dash. */
const LONGEST_PREFIX = 253 - 1 - HASH_LENGTH;

/** Default binding of a workspace type. */
export interface DefaultBinding {
  /** Name of the logical cluster with the binding. */
  readonly cluster: string;
  /** Path of the export in the WorkspaceType. */
  readonly exportPath: string;
  /** Name of the export. */
  readonly exportName: string;
}

/** Returns the name of an APIBinding for a workspace type's `defaultAPIBindings` (kcp's `GenerateAPIBindingName`). */
export function defaultBindingName({ cluster, exportPath, exportName }: DefaultBinding): string {
  const hash = bindingHash(`${cluster}|${exportPath}|${exportName}`);
  return `${exportName.slice(0, LONGEST_PREFIX)}-${hash.slice(0, HASH_LENGTH).toLowerCase()}`;
}

const bindingHash = remembered((text) => base62(sha224(text)));

/** WorkspaceType of an initializer or terminator. */
export interface OwningType {
  /** Name of the type's logical cluster; `system` without a type. */
  readonly cluster: string;
  /** Name of the type. */
  readonly name: string;
}

/**
 * Returns the name of a type's initializer and terminator: `<cluster>:<type>` (kcp's `InitializerForType`, `TerminatorForType`). It
 * is one segment in URLs.
 */
export const lifecycleName = ({ cluster, name }: OwningType): string => `${cluster}:${name}`;

/**
 * Returns the type of an initializer or terminator, split at the last colon (kcp's `TypeFrom`). Returns undefined without a colon,
 * which kcp answers with 500.
 */
export function parseLifecycleName(text: string): OwningType | undefined {
  const colon = text.lastIndexOf(":");
  return colon < 0 ? undefined : { cluster: text.slice(0, colon), name: text.slice(colon + 1) };
}

/**
 * Returns the URL of a logical cluster or workspace on a server: `https://host/clusters/root:org`. kcp writes it into
 * `Workspace.spec.URL` (external URL of the shard, canonical path), and uses it for requests to shards (base URL, name). Arguments
 * are not validated.
 *
 * @param baseURL with or without a trailing slash
 */
export const clusterURL = (baseURL: string, cluster: string): string =>
  `${baseURL.endsWith("/") ? baseURL.slice(0, -1) : baseURL}/clusters/${cluster}`;

/**
 * Returns the published URL of a view on a shard, `https://host/services/apiexport/root/widgets`, to which clients append
 * `/clusters/<name>` or `/clusters/*`. As in kcp, a path in the shard's URL is kept. Arguments are not validated.
 *
 * @param baseURL URL of the shard's virtual workspaces, `spec.virtualWorkspaceURL` of its Shard, with or without a trailing slash
 * @param path segments: the name of the view, and what follows
 */
export const viewURL = (baseURL: string, ...path: readonly string[]): string =>
  [baseURL.endsWith("/") ? baseURL.slice(0, -1) : baseURL, "services", ...path].join("/");

/**
 * Returns the path of a URL below a base URL, without trailing slashes: `/services/x` for `https://host/base/services/x/?y`
 * below `https://host/base/`. Security: this alone decides whether a URL that a user has set leads to this server.
 *
 * @returns `undefined` for a URL that leads elsewhere
 */
export function pathBelow(url: URL, base: string): string | undefined {
  const [place, root] = [placeOf(url), placeOf(new URL(base))];
  return place.startsWith(`${root}/`) ? place.slice(root.length) : undefined;
}

function placeOf({ origin, pathname }: URL): string {
  return (origin + pathname).replace(/\/+$/, "");
}
