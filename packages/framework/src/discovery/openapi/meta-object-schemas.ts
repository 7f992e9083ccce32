import type { Components, Schema } from "./schema.ts";

/** Full name of a component of Kubernetes' own `meta/v1`. */
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

/** `apiVersion` and `kind`, the first two properties of everything. */
export const TYPE_META: Readonly<Record<"apiVersion" | "kind", Schema>> = {
  apiVersion: text(
    "Group and version of the schema that this object follows, as group/version, or the version alone in the core " +
      "group. A server converts from any version it knows and rejects others. " +
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
      "Arbitrary text by key, set by tools and users, neither interpreted nor selectable. Keys may have a DNS " +
        "prefix, as in example.dev/note.",
    ),
    creationTimestamp: ref(
      metaName("Time"),
      "When the server created the object. Set by the server, the same for ever, not to be compared across servers.",
    ),
    deletionGracePeriodSeconds: int64(
      "Seconds the object has to end by itself before it is removed. Set, and only ever shortened, together with " +
        "deletionTimestamp.",
    ),
    deletionTimestamp: ref(
      metaName("Time"),
      "When the object is going to be gone. Set by the server once deletion was asked for; the object remains, and " +
        "accepts no new finalizers, until its finalizers are empty and its grace period is over. Cannot be unset.",
    ),
    finalizers: {
      type: "array",
      items: { type: "string" },
      description:
        "What must still happen before a deleted object may be removed. Each entry belongs to one component, which " +
        "takes it off when it is done; order means nothing, and entries may be worked off in any.",
      "x-kubernetes-list-type": "set",
      "x-kubernetes-patch-strategy": "merge",
    },
    generateName: text(
      "Prefix from which the server makes a unique name when name is empty. The name returned differs from it; if " +
        "no free name was found the answer is 409, and the client may try again.",
    ),
    generation: int64("Counts changes of the desired state. Set by the server."),
    labels: textMap("Short texts by key that selectors match, to organise objects into groups."),
    managedFields: list(
      { $ref: metaName("ManagedFieldsEntry") },
      "Who set which fields, by workflow, for server-side apply. Kept by the server; users seldom need to read it.",
    ),
    name: text(
      "Name of the object, unique among those of its kind in its namespace. Needed on creation unless generateName " +
        "is given, and unchangeable afterwards.",
    ),
    namespace: text("Space in which the name is unique. Empty for kinds of cluster scope; unchangeable."),
    ownerReferences: {
      type: "array",
      items: { $ref: metaName("OwnerReference") },
      description:
        "Objects this one depends on: when all of them are gone it is garbage collected. At most one entry has " +
        "controller set, the one that manages this object.",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-list-type": "map",
      "x-kubernetes-patch-merge-key": "uid",
      "x-kubernetes-patch-strategy": "merge",
    },
    resourceVersion: text(
      "Opaque version of this state of the object, for optimistic concurrency, change detection and watches. Only " +
        "to be sent back to where it came from. Set by the server.",
    ),
    selfLink: text("Not filled any more; left over from older API servers."),
    uid: text(
      "Identity of the object in time and space: not shared with one deleted before under the same name. Set by the server.",
    ),
  },
};

const ownerReference: Schema = {
  type: "object",
  description: "Names an owner in the same namespace, or one of cluster scope.",
  required: ["apiVersion", "kind", "name", "uid"],
  properties: {
    apiVersion: text("Group and version of the owner."),
    blockOwnerDeletion: flag(
      "If true, the owner cannot be removed by a foreground deletion before this reference is. Setting it needs " +
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
  description: "One workflow, the fields it set, and in which version of the schema they are named.",
  properties: {
    apiVersion: text("Version of the resource in which the fields are named, as group/version."),
    fieldsType: text("Format of the field set. The only value is FieldsV1."),
    fieldsV1: ref(metaName("FieldsV1"), "The field set, in the format that fieldsType names."),
    manager: text("Name of the workflow: a controller, a tool, a user's choice."),
    operation: text("How the fields were set: Apply or Update."),
    subresource: text("Subresource through which they were set, empty for the object itself."),
    time: ref(
      metaName("Time"),
      "When the entry last gained or changed a field; losing one to another manager is no change.",
    ),
  },
};

/** Components that objects themselves consist of. */
export const OBJECT_COMPONENTS: Components = {
  [metaName("ObjectMeta")]: objectMeta,
  [metaName("OwnerReference")]: ownerReference,
  [metaName("ManagedFieldsEntry")]: managedFieldsEntry,
  [metaName("FieldsV1")]: {
    type: "object",
    description:
      "A set of fields as a tree of JSON objects. A key f:<name> is a field of a struct or an entry of a map, " +
      "k:<keys> an item of a list found by its key fields, v:<value> one found by its value, i:<index> one found by " +
      "its position; an empty object ends a path, and a dot stands for the node itself.",
  },
  [metaName("Time")]: {
    type: "string",
    format: "date-time",
    description: "A moment in time, as RFC 3339 in UTC with seconds.",
  },
};
