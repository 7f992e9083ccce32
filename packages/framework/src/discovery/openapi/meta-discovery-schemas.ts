import { flag, list, metaName, ref, TYPE_META, text } from "./meta-object-schemas.ts";
import type { Components, Schema } from "./schema.ts";

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
