import { defineResource } from "@virtual-workspaces/framework";
import { CONDITIONS } from "../conditions.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { AGE, kcpKind, type ObjectsOf } from "./kind.ts";
import { exportReference, LABEL_SELECTOR, PATH } from "./shared-schemas.ts";

/**
 * kcp's ClusterCachedResource (`cache.kcp.io/v1alpha1`): cluster-scoped objects of a workspace that an export shows
 * read-only to its consumers. The workspace server acts on it with the feature gate `CacheAPIs`.
 */
export const ClusterCachedResource = kcpKind({
  group: "cache.kcp.io",
  kind: "ClusterCachedResource",
  description: "Objects to publish to other workspaces.",
  columns: { Resource: { jsonPath: ".spec.resource", description: "Published resource." } },
  required: ["spec"],
  spec: {
    type: "object",
    description: "Objects to publish, and their identity.",
    required: ["resource"],
    properties: {
      group: {
        type: "string",
        description: "API group of the resource, empty for the core group.",
        pattern: "^(|[a-z0-9]([-a-z0-9]*[a-z0-9](\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?)$",
      },
      version: { type: "string", description: "Version of the resource." },
      resource: { type: "string", description: "Plural name of the resource.", pattern: "^[a-z][-a-z0-9]*[a-z0-9]$" },
      identity: {
        type: "object",
        description: "Identity by which an APIExport refers to the objects.",
        properties: {
          secretRef: {
            type: "object",
            description: "Secret with the identity in its key `key`.",
            "x-kubernetes-map-type": "atomic",
            properties: {
              name: { type: "string", description: "Name of the Secret." },
              namespace: { type: "string", description: "Namespace of the Secret." },
            },
          },
        },
      },
      labelSelector: LABEL_SELECTOR,
    },
  },
  status: {
    type: "object",
    description: "Observed state.",
    properties: {
      conditions: CONDITIONS,
      identityHash: { type: "string", description: "Hash of the identity." },
      phase: {
        type: "string",
        default: "Initializing",
        enum: ["Scheduling", "Initializing", "Ready", "Deleting", "Deleted"],
        description: "Phase of the publication.",
      },
      resourceCounts: {
        type: "object",
        description: "Number of selected objects.",
        required: ["cache", "local"],
        properties: {
          cache: { type: "integer", description: "Number of copies in the cache server." },
          local: { type: "integer", description: "Number of objects in the workspace." },
        },
      },
    },
  },
});

/** ClusterCachedResource as clients read it. */
export type ClusterCachedResource = ObjectsOf<typeof ClusterCachedResource>;

/**
 * kcp's ClusterCachedResourceEndpointSlice (`cache.kcp.io/v1alpha1`): URLs of the replication view of a
 * ClusterCachedResource, to which an export's `storage.virtual` refers. The workspace server acts on it with the feature gate
 * `CacheAPIs`.
 */
export const ClusterCachedResourceEndpointSlice = defineResource({
  group: "cache.kcp.io",
  version: "v1alpha1",
  kind: "ClusterCachedResourceEndpointSlice",
  scope: "Cluster",
  categories: ["kcp"],
  lazySchema: true,
  description: "URLs of the copies of a ClusterCachedResource.",
  columns: { ClusterCachedResource: ".spec.clusterCachedResource.name", Age: AGE },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "Published objects, and the export that refers to them.",
        required: ["clusterCachedResource", "export"],
        properties: {
          clusterCachedResource: {
            type: "object",
            description: "ClusterCachedResource of these endpoints. Immutable.",
            required: ["name"],
            properties: { name: { type: "string", description: "Name of the ClusterCachedResource." }, path: PATH },
            "x-kubernetes-validations": [
              { rule: "self == oldSelf", message: "ClusterCachedResource reference must not be changed" },
            ],
          },
          export: exportReference,
          partition: { type: "string", description: "Partition of the shards. All shards if empty." },
        },
      },
      status: {
        type: "object",
        description: "Observed state.",
        properties: {
          conditions: CONDITIONS,
          endpoints: ENDPOINTS,
          shardSelector: { type: "string", description: "Shards of the slice, as a label selector in text form." },
        },
      },
    },
  },
});

/** ClusterCachedResourceEndpointSlice as clients read it. */
export type ClusterCachedResourceEndpointSlice = ObjectsOf<typeof ClusterCachedResourceEndpointSlice>;
