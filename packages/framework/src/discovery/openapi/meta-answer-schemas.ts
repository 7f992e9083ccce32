import { apiVersionOf, type GroupVersion } from "@virtual-workspaces/apimachinery";
import { flag, int32, int64, list, metaName, ref, TYPE_META, text } from "./meta-object-schemas.ts";
import type { Components, Schema } from "./schema.ts";

const CORE: GroupVersion = { group: "", version: "v1" };
const RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension";

const listMeta: Schema = {
  type: "object",
  description: "Metadata of a list: its resource version, and whether there are more items. It is not stored.",
  properties: {
    continue: text(
      "Token of the next page, empty on the last one. Send it back with otherwise equal parameters; the following " +
        "pages have the same resource version or, when the token has expired, the response is 410 with what to do.",
    ),
    remainingItemCount: int64(
      "Number of items after this page. Absent on the last page and whenever the server does not know it, as with " +
        "label or field selectors; an estimate for users, not for deciding whether to continue.",
    ),
    resourceVersion: text("Opaque version of the list; a watch can start from it."),
    shardInfo: ref(
      metaName("ShardInfo"),
      "Shard selector that limits the list. Absent if the list has the objects of all shards: the server then does not " +
        "support shard selectors, or the request had none.",
    ),
    selfLink: text("Always empty; kept for compatibility with older API servers."),
  },
};

const shardInfo: Schema = {
  type: "object",
  description: "The shard selector of a list.",
  required: ["selector"],
  properties: { selector: text("The selector of the request.") },
};

const statusCause: Schema = {
  type: "object",
  description: "One of the causes of an error.",
  properties: {
    field: text(
      "The invalid field, as a path in JSON notation from the object's root, with indices from zero. Examples: " +
        '"name", "items[0].name".',
    ),
    message: text("Human-readable description of the cause."),
    reason: text("Machine-readable description of the cause. Empty when unknown."),
  },
};

const statusDetails: Schema = {
  type: "object",
  description: "Details of an error. Servers set the fields that they know; an empty field means unknown.",
  properties: {
    causes: list({ $ref: metaName("StatusCause") }, "The individual causes, when there are several."),
    group: text("API group of the resource."),
    kind: text("Plural name of the resource, or its kind, that the error concerns."),
    name: text("Name of the object."),
    retryAfterSeconds: int32("Seconds after which the client can retry, possibly elsewhere."),
    uid: text("UID of the object, when the error concerns a single one."),
  },
};

const status: Schema = {
  type: "object",
  description: "The response of a call that returns no object, and the body of every error.",
  properties: {
    ...TYPE_META,
    code: int32("HTTP status code of the response, 0 if none was set."),
    details: ref(metaName("StatusDetails"), "Details of the reason; their form depends on the reason."),
    message: text("Human-readable description of the result."),
    metadata: ref(metaName("ListMeta"), "Metadata of the response, mostly empty."),
    reason: text("Machine-readable reason for a failure: one word that refines the status code. Empty when unknown."),
    status: text('"Success" or "Failure".'),
  },
};

const preconditions: Schema = {
  type: "object",
  description: "Preconditions of a deletion.",
  properties: {
    resourceVersion: text("The object must have this resourceVersion."),
    uid: text("The object must have this uid."),
  },
};

const deleteOptions: Schema = {
  type: "object",
  description: "Options of a deletion.",
  properties: {
    ...TYPE_META,
    dryRun: list({ type: "string" }, 'If it is ["All"], the request is validated and nothing is stored.'),
    gracePeriodSeconds: int64(
      "Seconds before the object is removed, not negative; zero removes it at once. Defaults to the kind's own period.",
    ),
    ignoreStoreReadErrorWithClusterBreakingPotential: flag(
      "Deletes an object that cannot be read from storage, ignoring its finalizers and preconditions. Defaults to false.",
    ),
    orphanDependents: flag("Deprecated in favor of propagationPolicy; set only one of the two."),
    preconditions: ref(
      metaName("Preconditions"),
      "Preconditions; if they are not met, the response is 409 and nothing is deleted.",
    ),
    propagationPolicy: text(
      "What happens to dependents: Orphan keeps them, Background deletes them afterwards, Foreground deletes them first.",
    ),
  },
};

const watchEvent: Schema = {
  type: "object",
  description: "One event of a watch.",
  required: ["type", "object"],
  properties: {
    object: ref(
      RAW_EXTENSION,
      "The new state of the object if type is ADDED or MODIFIED, its last state if DELETED, an object with only " +
        "a resourceVersion if BOOKMARK, and a Status if ERROR.",
    ),
    type: text("ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."),
  },
};

/** Components of requests and responses; `groupVersions` are those that serve deletions and watches. */
export function answerComponents(groupVersions: readonly GroupVersion[]): Components {
  const known = new Map([CORE, ...groupVersions].map((gv) => [apiVersionOf(gv), gv]));
  const everywhere = (schema: Schema, kind: string): Schema => ({
    ...schema,
    "x-kubernetes-group-version-kind": [...known.values()].map(({ group, version }) => ({ group, kind, version })),
  });
  return {
    [metaName("ListMeta")]: listMeta,
    [metaName("ShardInfo")]: shardInfo,
    [metaName("Status")]: {
      ...status,
      "x-kubernetes-group-version-kind": [{ group: "", kind: "Status", version: "v1" }],
    },
    [metaName("StatusDetails")]: statusDetails,
    [metaName("StatusCause")]: statusCause,
    [metaName("DeleteOptions")]: everywhere(deleteOptions, "DeleteOptions"),
    [metaName("Preconditions")]: preconditions,
    [metaName("Patch")]: {
      type: "object",
      description: "A change to an object, in the format that Content-Type names.",
    },
    [metaName("WatchEvent")]: everywhere(watchEvent, "WatchEvent"),
    [RAW_EXTENSION]: { type: "object", description: "An object of any kind." },
  };
}

export const VERSION_INFO = "io.k8s.apimachinery.pkg.version.Info";

const texts = (description: string): Schema => list({ type: "string" }, description);

const addresses: Schema = list(
  { $ref: metaName("ServerAddressByClientCIDR") },
  "Addresses of the server by network of the client. Empty: the address of this request.",
);

const gvk = (kind: string): Pick<Schema, "x-kubernetes-group-version-kind"> => ({
  "x-kubernetes-group-version-kind": [{ group: "", kind, version: "v1" }],
});

/** Components of the discovery documents and of `/version`. */
export const DISCOVERY_COMPONENTS: Components = {
  [metaName("APIVersions")]: {
    type: "object",
    description: "The versions of the core group.",
    required: ["versions", "serverAddressByClientCIDRs"],
    properties: {
      ...TYPE_META,
      serverAddressByClientCIDRs: addresses,
      versions: texts("Versions that are served."),
    },
    ...gvk("APIVersions"),
  },
  [metaName("APIGroupList")]: {
    type: "object",
    description: "The groups that are served.",
    required: ["groups"],
    properties: { ...TYPE_META, groups: list({ $ref: metaName("APIGroup") }, "The groups.") },
    ...gvk("APIGroupList"),
  },
  [metaName("APIGroup")]: {
    type: "object",
    description: "A group and its versions.",
    required: ["name", "versions"],
    properties: {
      ...TYPE_META,
      name: text("Name of the group."),
      preferredVersion: ref(metaName("GroupVersionForDiscovery"), "The preferred version."),
      serverAddressByClientCIDRs: addresses,
      versions: list({ $ref: metaName("GroupVersionForDiscovery") }, "The served versions, most preferred first."),
    },
    ...gvk("APIGroup"),
  },
  [metaName("GroupVersionForDiscovery")]: {
    type: "object",
    description: "A version of a group.",
    required: ["groupVersion", "version"],
    properties: {
      groupVersion: text("Group and version, as group/version."),
      version: text("The version alone."),
    },
  },
  [metaName("ServerAddressByClientCIDR")]: {
    type: "object",
    description: "An address of the server for clients in a network.",
    required: ["clientCIDR", "serverAddress"],
    properties: {
      clientCIDR: text("The network."),
      serverAddress: text("Host, and port if it is not the default."),
    },
  },
  [metaName("APIResourceList")]: {
    type: "object",
    description: "The resources of a group version.",
    required: ["groupVersion", "resources"],
    properties: {
      ...TYPE_META,
      groupVersion: text("Group and version, as group/version."),
      resources: list({ $ref: metaName("APIResource") }, "The resources and subresources."),
    },
    ...gvk("APIResourceList"),
  },
  [metaName("APIResource")]: {
    type: "object",
    description: "A resource: its names and its verbs.",
    required: ["name", "singularName", "namespaced", "kind", "verbs"],
    properties: {
      categories: texts('Groups of resources that it belongs to, such as "all".'),
      group: text("Group of the kind if it is not the group of the list."),
      kind: text("Kind of its objects."),
      name: text("Plural name, with the subresource after a slash."),
      namespaced: flag("Whether its objects are in namespaces."),
      shortNames: texts("Abbreviations that kubectl accepts."),
      singularName: text("Singular name, empty for one derived from the kind."),
      storageVersionHash: text("Opaque hash that changes when objects are stored in another version."),
      verbs: texts("Supported verbs: get, list, watch, create, update, patch, delete, deletecollection."),
      version: text("Version of the kind if it is not the version of the list."),
    },
  },
  [VERSION_INFO]: {
    type: "object",
    description: "The version of the server.",
    required: [
      "major",
      "minor",
      "gitVersion",
      "gitCommit",
      "gitTreeState",
      "buildDate",
      "goVersion",
      "compiler",
      "platform",
    ],
    properties: {
      buildDate: text("Date of the build."),
      compiler: text("Compiler of the build."),
      gitCommit: text("Git commit of the build."),
      gitTreeState: text("Whether the git tree had no uncommitted changes."),
      gitVersion: text("The version, such as v1.2.3."),
      goVersion: text("Version of the programming language."),
      major: text("Major version of the Kubernetes API that the server implements."),
      minor: text("Minor version of the Kubernetes API that the server implements."),
      platform: text("Operating system and architecture."),
    },
  },
};
