import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import type { Resource } from "@virtual-workspaces/framework";
import type { RbacKey, RbacObject } from "@virtual-workspaces/framework/authz";
import {
  APIBinding,
  type APIBinding as APIBindingObject,
  APIExport,
  APIExportEndpointSlice,
  APIResourceSchema,
  ClusterCachedResource,
  ClusterCachedResourceEndpointSlice,
  LOGICAL_CLUSTER_NAME,
  LogicalCluster,
  type LogicalCluster as LogicalClusterObject,
  Partition,
  PartitionSet,
  Shard,
  Workspace,
  WorkspaceAuthenticationConfiguration,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { isConditionFalse, isConditionTrue } from "@virtual-workspaces/kcp/conditions";
import { LOGICAL_CLUSTER_SHARD_ANNOTATION, PATH_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { RbacPolicies } from "../authz/rbac-policies.ts";
import { Namespace, type NamespaceContent } from "../kinds/namespace.ts";
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  type ValidatingPolicyContent,
} from "../kinds/policy-kinds.ts";
import {
  type BindingContent,
  ClusterRole,
  ClusterRoleBinding,
  type ClusterRoleKindContent,
  Role,
  RoleBinding,
} from "../kinds/rbac.ts";
import { ResourceQuota } from "../kinds/resource-quota.ts";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "../kinds/webhook-configuration.ts";
import { PolicyConfigurations, type PolicyPlace } from "../policies/configurations.ts";
import type { StoredPolicy } from "../policies/policy.ts";
import { WebhookConfigurations } from "../webhooks/configurations.ts";
import type { WebhookPhase } from "../webhooks/webhook.ts";
import type { Informer } from "./informers/informer.ts";
import type { ShardObjects } from "./objects.ts";

/** Content type of a kind. */
type ContentOf<Kind> = Kind extends Resource<infer Content> ? Content : never;

/**
 * Informers over the kinds that a shard itself needs. Of kinds with objects in every workspace they have all objects only
 * when `ShardObjects.isWhole`, and those of a logical cluster once it is loaded.
 */
export class ShardState {
  readonly rbac: RbacState;
  /** Webhooks of configurations, by logical cluster. */
  readonly webhooks: WebhookConfigurations;
  /** Policies and their bindings, by logical cluster. */
  readonly policies: PolicyConfigurations;
  readonly validatingPolicies: Informer<ValidatingPolicyContent>;
  readonly namespaces: Informer<NamespaceContent>;
  readonly resourceQuotas: Informer<ContentOf<typeof ResourceQuota>>;
  readonly logicalClusters: Informer<ContentOf<typeof LogicalCluster>>;
  /**
   * Index `cluster`: logical cluster that the Workspace leads to. `shard`: name of the chosen shard.
   * Index `mounted`, of Workspaces with a mount, and `unplaced`, of those without a target: their parent's logical cluster.
   * Index `unschedulable`: "" for those without a suitable shard.
   */
  readonly workspaces: Informer<ContentOf<typeof Workspace>>;
  /** Index `type`: `<path>:<name>` and `<logical cluster>:<name>`. */
  readonly workspaceTypes: Informer<ContentOf<typeof WorkspaceType>>;
  readonly workspaceAuthenticationConfigurations: Informer<ContentOf<typeof WorkspaceAuthenticationConfiguration>>;
  readonly shards: Informer<ContentOf<typeof Shard>>;
  readonly partitionSets: Informer<ContentOf<typeof PartitionSet>>;
  readonly partitions: Informer<ContentOf<typeof Partition>>;
  /**
   * Index `export`: `<path>:<name>` and `<logical cluster>:<name>`. Index `identity`: the hash. Index `secret`:
   * `<logical cluster>/<namespace>/<name>` of the identity's Secret. Index `schema`: `<logical cluster>/<name>` of schemas.
   */
  readonly apiExports: Informer<ContentOf<typeof APIExport>>;
  /**
   * Index `export`: `<path or logical cluster>:<name>`, as in the reference. Index `claimed`:
   * `<logical cluster> <resource>.<group>` of each accepted claim, until only the binding itself has to be deleted.
   * Index `claiming`: logical cluster of those with accepted claims. Index `waiting`: identity hashes of accepted claims, while
   * some claim is not applied.
   */
  readonly apiBindings: Informer<ContentOf<typeof APIBinding>>;
  readonly apiResourceSchemas: Informer<ContentOf<typeof APIResourceSchema>>;
  /** Index `export`: `<path or logical cluster>:<name>`, as in the reference. */
  readonly apiExportEndpointSlices: Informer<ContentOf<typeof APIExportEndpointSlice>>;
  /**
   * Index `place`: `<path>:<name>` and `<logical cluster>:<name>`. Index `secret`: `<logical cluster>/<namespace>/<name>` of the
   * identity's Secret. Index `resource`: `<logical cluster>/<resource>.<group>`.
   */
  readonly cachedResources: Informer<ContentOf<typeof ClusterCachedResource>>;
  /** Index `export`: as of other slices. Index `cached`: `<path or logical cluster>:<name>`, as in the reference. */
  readonly cachedResourceSlices: Informer<ContentOf<typeof ClusterCachedResourceEndpointSlice>>;

  constructor(objects: ShardObjects) {
    const read = "withCluster";
    this.rbac = new RbacState(objects);
    this.webhooks = webhookState(objects);
    this.validatingPolicies = objects.informer(ValidatingAdmissionPolicy);
    this.policies = policyState(objects, this.validatingPolicies);
    this.namespaces = objects.informer(Namespace, { read });
    this.resourceQuotas = objects.informer(ResourceQuota);
    this.logicalClusters = objects.informer(LogicalCluster, { read });
    this.workspaces = objects.informer(Workspace, {
      // A parent may have very many, and only the resolution of paths depends on them.
      read: "byName",
      indexers: {
        cluster: ({ spec }) => (spec.cluster === undefined ? [] : [spec.cluster]),
        shard: ({ metadata }) => {
          const shard = metadata.annotations?.[LOGICAL_CLUSTER_SHARD_ANNOTATION];
          return shard === undefined ? [] : [shard];
        },
        mounted: ({ spec }, { cluster }) => (spec.mount === undefined ? [] : [cluster]),
        unplaced: ({ spec }, { cluster }) => (spec.cluster && spec.URL ? [] : [cluster]),
        unschedulable: ({ status }) => (isConditionFalse(status?.conditions, "WorkspaceScheduled") ? [""] : []),
      },
    });
    this.workspaceTypes = objects.informer(WorkspaceType, {
      indexers: {
        type: byPath,
      },
    });
    this.workspaceAuthenticationConfigurations = objects.informer(WorkspaceAuthenticationConfiguration);
    this.shards = objects.informer(Shard);
    this.partitionSets = objects.informer(PartitionSet);
    this.partitions = objects.informer(Partition);
    this.apiExports = objects.informer(APIExport, {
      indexers: {
        export: byPath,
        identity: ({ status }) => (status?.identityHash === undefined ? [] : [status.identityHash]),
        secret: ({ spec }, { cluster }) => identitySecret(spec, cluster),
        schema: ({ spec }, { cluster }) => [...new Set(spec?.resources?.map(({ schema }) => `${cluster}/${schema}`))],
      },
    });
    this.apiBindings = objects.informer(APIBinding, {
      read,
      indexers: {
        export: ({ spec }, { cluster }) => referred(spec.reference.export, cluster),
        claimed: (binding, { cluster }) => acceptedResources(binding).map((resource) => `${cluster} ${resource}`),
        claiming: (binding, { cluster }) => (acceptedResources(binding).length > 0 ? [cluster] : []),
        waiting: awaitedIdentities,
      },
    });
    this.apiResourceSchemas = objects.informer(APIResourceSchema);
    this.apiExportEndpointSlices = objects.informer(APIExportEndpointSlice, {
      indexers: {
        export: ({ spec }, { cluster }) => referred(spec?.export, cluster),
      },
    });
    this.cachedResources = objects.informer(ClusterCachedResource, {
      indexers: {
        place: byPath,
        secret: ({ spec }, { cluster }) => identitySecret(spec, cluster),
        resource: ({ spec }, { cluster }) => [`${cluster}/${spec.resource}.${spec.group ?? ""}`],
      },
    });
    this.cachedResourceSlices = objects.informer(ClusterCachedResourceEndpointSlice, {
      indexers: {
        export: ({ spec }, { cluster }) => referred(spec?.export, cluster),
        cached: ({ spec }, { cluster }) => referred(spec?.clusterCachedResource, cluster),
      },
    });
  }

  /** Returns the LogicalCluster of a logical cluster. */
  logicalCluster(cluster: string): LogicalClusterObject | undefined {
    return this.logicalClusters.store.get(logicalClusterKey(cluster));
  }
}

function awaitedIdentities({ spec, status }: APIBindingObject): string[] {
  if (!isConditionFalse(status?.conditions, "PermissionClaimsApplied")) return [];
  const accepted = (spec.permissionClaims ?? []).filter(({ state }) => state === "Accepted");
  return [...new Set(accepted.flatMap(({ identityHash }) => identityHash || []))];
}

function acceptedResources({ metadata, spec, status }: APIBindingObject): string[] {
  const leaves = metadata.deletionTimestamp !== undefined;
  if (leaves && isConditionTrue(status?.conditions, RESOURCES_DELETED_CONDITION)) return [];
  const accepted = (spec.permissionClaims ?? []).filter(({ state }) => state === "Accepted");
  return [...new Set(accepted.map(({ group = "", resource }) => `${resource}.${group}`))];
}

/** Condition of an APIBinding under deletion: its objects are gone. */
export const RESOURCES_DELETED_CONDITION = "BindingResourceDeleteSuccess";

/** Returns the keys by which others refer to an object: its workspace's path or logical cluster, and its name. */
function byPath({ metadata }: KubeObject, { cluster, name }: ObjectKey): string[] {
  const path = metadata.annotations?.[PATH_ANNOTATION] ?? cluster;
  return [...new Set([path, cluster])].map((place) => `${place}:${name}`);
}

/** Object whose identity is in a Secret. */
interface Identified {
  readonly identity?: {
    readonly secretRef?: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined;
  };
}

function identitySecret(spec: Identified | undefined, cluster: string): string[] {
  const { namespace = "", name = "" } = spec?.identity?.secretRef ?? {};
  return name === "" ? [] : [`${cluster}/${namespace}/${name}`];
}

function referred(
  to: { readonly path?: string | undefined; readonly name: string } | undefined,
  cluster: string,
): string[] {
  return to === undefined ? [] : [`${to.path === undefined || to.path === "" ? cluster : to.path}:${to.name}`];
}

/** Returns the key of the LogicalCluster of a logical cluster. */
export function logicalClusterKey(cluster: string): ObjectKey {
  return { cluster, namespace: "", name: LOGICAL_CLUSTER_NAME };
}

const WITH_CLUSTER = { read: "withCluster" } as const;

/** Roles and bindings of a shard as policies, as current as the informers. */
class RbacState {
  readonly policies: RbacPolicies = new RbacPolicies();
  /** Index `aggregated`, of those with an aggregation rule: their logical cluster. */
  readonly clusterRoles: Informer<ClusterRoleKindContent>;
  readonly clusterRoleBindings: Informer<BindingContent>;

  constructor(objects: ShardObjects) {
    this.clusterRoles = this.#follow(
      objects.informer(ClusterRole, {
        ...WITH_CLUSTER,
        indexers: {
          aggregated: ({ aggregationRule }, { cluster }) => (aggregationRule === undefined ? [] : [cluster]),
        },
      }),
    );
    this.clusterRoleBindings = this.#follow(objects.informer(ClusterRoleBinding, WITH_CLUSTER));
    this.#follow(objects.informer(Role, WITH_CLUSTER));
    this.#follow(objects.informer(RoleBinding, WITH_CLUSTER));
  }

  /** Keeps the policies in step with the informer. */
  #follow<T extends object>(informer: Informer<T>): Informer<T> {
    const set = (object: unknown, cluster: string): void => this.policies.set(cluster, object as RbacObject);
    informer.mirror({
      added: (object, { key }) => set(object, key.cluster),
      updated: (object, _, { key }) => set(object, key.cluster),
      deleted: (object, { key }) => this.policies.delete(key.cluster, object as unknown as RbacKey),
    });
    return informer;
  }
}

/** Webhooks of a shard, as current as the informers. */
function webhookState(objects: ShardObjects): WebhookConfigurations {
  const all = new WebhookConfigurations();
  const kinds = { mutating: MutatingWebhookConfiguration, validating: ValidatingWebhookConfiguration } as const;
  for (const [phase, kind] of Object.entries(kinds) as [WebhookPhase, (typeof kinds)[WebhookPhase]][])
    objects.informer(kind).mirror({
      added: (object, { key }) => all.set(key.cluster, phase, object),
      updated: (object, _, { key }) => all.set(key.cluster, phase, object),
      deleted: (_, { key }) => all.delete(key.cluster, phase, key.name),
    });
  return all;
}

/** Policies of a shard, as current as the informers. */
function policyState(objects: ShardObjects, validating: Informer<ValidatingPolicyContent>): PolicyConfigurations {
  const all = new PolicyConfigurations();
  const follow = <T extends object>(informer: Informer<T>, at: Omit<PolicyPlace, "cluster">): Disposable => {
    const set = (object: unknown, cluster: string): void => all.set({ ...at, cluster }, object as StoredPolicy);
    return informer.mirror({
      added: (object, { key }) => set(object, key.cluster),
      updated: (object, _, { key }) => set(object, key.cluster),
      deleted: (_, { key }) => all.delete({ ...at, cluster: key.cluster }, key.name),
    });
  };
  follow(validating, { phase: "validating", what: "policies" });
  follow(objects.informer(ValidatingAdmissionPolicyBinding), { phase: "validating", what: "bindings" });
  follow(objects.informer(MutatingAdmissionPolicy), { phase: "mutating", what: "policies" });
  follow(objects.informer(MutatingAdmissionPolicyBinding), { phase: "mutating", what: "bindings" });
  return all;
}
