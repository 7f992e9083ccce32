import type { Components, Schema } from "./schema.ts";

/** Returns the full name of a component of Kubernetes' `meta/v1`. */
export function metaName(kind: string): string {
  return `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`;
}

export function text(description: string): Schema {
  return { type: "string", description };
}

export function flag(description: string): Schema {
  return { type: "boolean", description };
}

export function int64(description: string): Schema {
  return { type: "integer", format: "int64", description };
}

export function int32(description: string): Schema {
  return { type: "integer", format: "int32", description };
}

export function ref(name: string, description: string): Schema {
  return { $ref: name, description };
}

export function list(items: Schema, description: string): Schema {
  return { type: "array", items, description, "x-kubernetes-list-type": "atomic" };
}

/** `apiVersion` and `kind`, the first two properties of every object. */
export const TYPE_META: Readonly<Record<"apiVersion" | "kind", Schema>> = {
  apiVersion: text(
    "Group and version of the schema that this object follows, as group/version, or the version alone in the core " +
      "group. A server converts from any version that it knows and rejects others. " +
      "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
  ),
  kind: text(
    "Name of the kind of this object, in CamelCase. A server may infer it from the endpoint; it cannot be changed. " +
      "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
  ),
};

const textMap = (description: string): Schema => ({
  type: "object",
  additionalProperties: { type: "string" },
  description,
});

const objectMeta: Schema = {
  type: "object",
  description: "Metadata that every stored object has, whatever its kind.",
  properties: {
    annotations: textMap(
      "Arbitrary text by key, set by tools and users. It is not interpreted and cannot be selected. Keys may have a DNS " +
        "prefix, such as example.dev/note.",
    ),
    creationTimestamp: ref(
      metaName("Time"),
      "Time at which the server created the object. Set by the server and immutable; do not compare it across servers.",
    ),
    deletionGracePeriodSeconds: int64(
      "Seconds that the object has to terminate before it is removed. Set, and only ever shortened, together with " +
        "deletionTimestamp.",
    ),
    deletionTimestamp: ref(
      metaName("Time"),
      "Time at which the object will be removed. Set by the server when deletion is requested; the object remains, and " +
        "accepts no new finalizers, until its finalizers are empty and its grace period is over. Cannot be unset.",
    ),
    finalizers: {
      type: "array",
      items: { type: "string" },
      description:
        "Tasks that must complete before a deleted object is removed. Each entry belongs to one component, which " +
        "removes it when the task is done. The order has no meaning.",
      "x-kubernetes-list-type": "set",
      "x-kubernetes-patch-strategy": "merge",
    },
    generateName: text(
      "Prefix from which the server generates a unique name when name is empty. The returned name differs from it; if " +
        "no free name is found, the response is 409 and the client can retry.",
    ),
    generation: int64("Number of changes to the desired state. Set by the server."),
    labels: textMap("Short texts by key, which selectors match to organize objects into groups."),
    managedFields: list(
      { $ref: metaName("ManagedFieldsEntry") },
      "Field managers and their fields, for server-side apply. Maintained by the server; users seldom need to read it.",
    ),
    name: text(
      "Name of the object, unique among those of its kind in its namespace. Required on creation unless generateName " +
        "is set, and immutable afterwards.",
    ),
    namespace: text("Namespace in which the name is unique. Empty for cluster-scoped kinds; immutable."),
    ownerReferences: {
      type: "array",
      items: { $ref: metaName("OwnerReference") },
      description:
        "Objects that this one depends on: when all of them are gone, it is garbage collected. At most one entry has " +
        "controller set, the one that manages this object.",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-list-type": "map",
      "x-kubernetes-patch-merge-key": "uid",
      "x-kubernetes-patch-strategy": "merge",
    },
    resourceVersion: text(
      "Opaque version of this state of the object, for optimistic concurrency, change detection and watches. Send it " +
        "only to the server that it came from. Set by the server.",
    ),
    selfLink: text("Always empty; kept for compatibility with older API servers."),
    uid: text(
      "Identity of the object: an earlier, deleted object with the same name has a different one. Set by the server.",
    ),
  },
};

const ownerReference: Schema = {
  type: "object",
  description: "Reference to an owner in the same namespace, or to a cluster-scoped one.",
  required: ["apiVersion", "kind", "name", "uid"],
  properties: {
    apiVersion: text("Group and version of the owner."),
    blockOwnerDeletion: flag(
      "If true, a foreground deletion cannot remove the owner before this reference is removed. Setting it requires " +
        "permission to delete the owner. Defaults to false.",
    ),
    controller: flag("Whether this owner is the managing controller."),
    kind: text("Kind of the owner."),
    name: text("Name of the owner."),
    uid: text("UID of the owner."),
  },
  "x-kubernetes-map-type": "atomic",
};

const managedFieldsEntry: Schema = {
  type: "object",
  description: "A field manager, its fields, and the version of the schema in which they are named.",
  properties: {
    apiVersion: text("Version of the resource in which the fields are named, as group/version."),
    fieldsType: text("Format of the field set. The only value is FieldsV1."),
    fieldsV1: ref(metaName("FieldsV1"), "The field set, in the format of fieldsType."),
    manager: text("Name of the field manager: a controller, a tool, or a name that the user chose."),
    operation: text("How the fields were set: Apply or Update."),
    subresource: text("Subresource through which the fields were set, empty for the object itself."),
    time: ref(
      metaName("Time"),
      "Time at which the entry last gained or changed a field; losing one to another manager does not count.",
    ),
  },
};

/** Components of objects. */
export const OBJECT_COMPONENTS: Components = {
  [metaName("ObjectMeta")]: objectMeta,
  [metaName("OwnerReference")]: ownerReference,
  [metaName("ManagedFieldsEntry")]: managedFieldsEntry,
  [metaName("FieldsV1")]: {
    type: "object",
    description:
      "A set of fields as a tree of JSON objects. A key f:<name> is a field of a struct or an entry of a map. " +
      "The keys k:<keys>, v:<value> and i:<index> are list items identified by key fields, value or " +
      "position. An empty object ends a path, and a dot stands for the node itself.",
  },
  [metaName("Time")]: {
    type: "string",
    format: "date-time",
    description: "A point in time, as RFC 3339 in UTC with seconds.",
  },
};
