import { apiVersionOf, type GroupVersion } from "@virtual-workspaces/apimachinery";
import { flag, int32, int64, list, metaName, ref, TYPE_META, text } from "./meta-object-schemas.ts";
import type { Components, Schema } from "./schema.ts";

const CORE: GroupVersion = { group: "", version: "v1" };
const RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension";

const listMeta: Schema = {
  type: "object",
  description: "Metadata of a list: where it was taken, and whether there is more. Not stored with anything.",
  properties: {
    continue: text(
      "Token of the next page, empty on the last one. To be sent back with otherwise equal parameters; the following " +
        "pages are of the same moment, or, when the token is too old, the answer is 410 with what to do.",
    ),
    remainingItemCount: int64(
      "How many items follow after this page. Absent on the last page and whenever the server does not know, as with " +
        "label or field selectors; an estimate for users, not for deciding whether to go on.",
    ),
    resourceVersion: text("Opaque version at which the list was taken; a watch may start from it."),
    selfLink: text("Not filled any more; left over from older API servers."),
  },
};

const statusCause: Schema = {
  type: "object",
  description: "One of the reasons for an error.",
  properties: {
    field: text(
      "The field in question, as a path in JSON notation from the object's root, with indices from zero. Examples: " +
        '"name", "items[0].name".',
    ),
    message: text("What is wrong, for people to read."),
    reason: text("What is wrong, for programs. Empty when unknown."),
  },
};

const statusDetails: Schema = {
  type: "object",
  description: "What an error is about. Servers fill in what they know; an empty field means nothing.",
  properties: {
    causes: list({ $ref: metaName("StatusCause") }, "The single reasons, when there are several."),
    group: text("API group of the resource."),
    kind: text("Plural name of the resource, or the kind, of what the error is about."),
    name: text("Name of the object."),
    retryAfterSeconds: int32("Seconds after which trying again, or trying elsewhere, may help."),
    uid: text("UID of the object, when a single one is meant."),
  },
};

const status: Schema = {
  type: "object",
  description: "The answer of a call that returns no object, and the body of every error.",
  properties: {
    ...TYPE_META,
    code: int32("HTTP status code that goes with the answer, 0 if none was set."),
    details: ref(metaName("StatusDetails"), "More about the reason; its form depends on the reason."),
    message: text("What happened, for people to read."),
    metadata: ref(metaName("ListMeta"), "Metadata of the answer, mostly empty."),
    reason: text("Why the call failed, for programs: one word that refines the status code. Empty when unknown."),
    status: text('"Success" or "Failure".'),
  },
};

const preconditions: Schema = {
  type: "object",
  description: "What must hold for a deletion to be carried out.",
  properties: {
    resourceVersion: text("The object must have this resourceVersion."),
    uid: text("The object must have this uid."),
  },
};

const deleteOptions: Schema = {
  type: "object",
  description: "How to delete.",
  properties: {
    ...TYPE_META,
    dryRun: list({ type: "string" }, 'If it is ["All"], everything is checked and nothing is stored.'),
    gracePeriodSeconds: int64(
      "Seconds before the object is removed, not negative; zero removes at once. Defaults to what the kind says.",
    ),
    ignoreStoreReadErrorWithClusterBreakingPotential: flag(
      "Deletes an object that can no longer be read from storage, past its finalizers and preconditions. Defaults to false.",
    ),
    orphanDependents: flag("Replaced by propagationPolicy; not both may be set."),
    preconditions: ref(metaName("Preconditions"), "Must hold, or the answer is 409 and nothing is deleted."),
    propagationPolicy: text(
      "What becomes of dependents: Orphan leaves them, Background deletes them afterwards, Foreground deletes them first.",
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
      "The new state of the object if type is ADDED or MODIFIED, its last state if DELETED, an object with nothing but " +
        "a resourceVersion if BOOKMARK, and a Status if ERROR.",
    ),
    type: text("ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."),
  },
};

/** Components of requests and answers; `groupVersions` are those in which deletions and watches are served. */
export function answerComponents(groupVersions: readonly GroupVersion[]): Components {
  const known = new Map([CORE, ...groupVersions].map((gv) => [apiVersionOf(gv), gv]));
  const everywhere = (schema: Schema, kind: string): Schema => ({
    ...schema,
    "x-kubernetes-group-version-kind": [...known.values()].map(({ group, version }) => ({ group, kind, version })),
  });
  return {
    [metaName("ListMeta")]: listMeta,
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
  "Addresses of the server by network of the client. Empty: the address just used.",
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
      preferredVersion: ref(
        metaName("GroupVersionForDiscovery"),
        "The version to use when there is no reason for another.",
      ),
      serverAddressByClientCIDRs: addresses,
      versions: list({ $ref: metaName("GroupVersionForDiscovery") }, "The versions that are served, best first."),
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
      serverAddress: text("Host, and port if it is not the usual one."),
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
    description: "A resource: its names, and what can be done with it.",
    required: ["name", "singularName", "namespaced", "kind", "verbs"],
    properties: {
      categories: texts('Groups of resources that it belongs to, such as "all".'),
      group: text("Group of the kind if it is not the group of the list."),
      kind: text("Kind of its objects."),
      name: text("Plural name, with the subresource after a slash."),
      namespaced: flag("Whether its objects live in namespaces."),
      shortNames: texts("Abbreviations that kubectl takes."),
      singularName: text("Singular name, empty for one derived from the kind."),
      storageVersionHash: text("Changes when objects are stored in another version. Opaque."),
      verbs: texts("What can be done: get, list, watch, create, update, patch, delete, deletecollection."),
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
      buildDate: text("When it was built."),
      compiler: text("What it was built with."),
      gitCommit: text("From which commit."),
      gitTreeState: text("Whether the commit was all there was to it."),
      gitVersion: text("The version, as v1.2.3."),
      goVersion: text("The language's version."),
      major: text("Major version of Kubernetes whose API it speaks."),
      minor: text("Minor version of Kubernetes whose API it speaks."),
      platform: text("Operating system and architecture."),
    },
  },
};
