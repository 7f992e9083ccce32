import type { JsonSchema } from "@virtual-workspaces/apimachinery";

// Parts of the schemas of Kubernetes' kinds. As in Kubernetes, validation reports missing fields, not the schema.

/** String. */
export const text = (description: string): JsonSchema => ({ type: "string", description });
/** List of strings that is replaced as a whole. */
export const texts = (description: string): JsonSchema => ({
  type: "array",
  description,
  items: { type: "string" },
  "x-kubernetes-list-type": "atomic",
});
/** List of unique strings, to which every field manager may add its own. */
export const textSet = (description: string): JsonSchema => ({
  ...texts(description),
  "x-kubernetes-list-type": "set",
});
/** Map from strings to strings. */
export const textMap = (description: string): JsonSchema => ({
  type: "object",
  description,
  additionalProperties: { type: "string" },
});
/** 32-bit integer. */
export const int32 = (description: string): JsonSchema => ({ type: "integer", format: "int32", description });
/** 64-bit integer. */
export const int64 = (description: string): JsonSchema => ({ type: "integer", format: "int64", description });
/** Boolean. */
export const flag = (description: string): JsonSchema => ({ type: "boolean", description });
/** RFC 3339 time; null means none. */
export const time = (description: string): JsonSchema => ({
  type: "string",
  format: "date-time",
  nullable: true,
  description,
});
/** Object with these fields. */
export const object = (description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "object",
  description,
  properties,
});
/** List of objects that is replaced as a whole. */
export const objects = (description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "array",
  description,
  items: { type: "object", properties },
  "x-kubernetes-list-type": "atomic",
});
/** List of objects with a key field, to which every field manager may add its own. */
export const keyed = (key: string, list: JsonSchema): JsonSchema => ({
  ...list,
  ...(list.items === undefined ? {} : { items: { ...list.items, required: [key] } }),
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": [key],
  "x-kubernetes-patch-strategy": "merge",
  "x-kubernetes-patch-merge-key": key,
});

/** Reference to another object (ObjectReference). */
export const reference = (description: string): JsonSchema => ({
  ...object(description, {
    kind: text("Kind of the object."),
    namespace: text("Namespace of the object."),
    name: text("Name of the object."),
    uid: text("Uid of the object."),
    apiVersion: text("API version of the object."),
    resourceVersion: text("Resource version of the object."),
    fieldPath: text("Part of the object, such as spec.containers{name}."),
  }),
  "x-kubernetes-map-type": "atomic",
});

/** Conditions of a status. */
export const conditions = (description: string, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema =>
  keyed(
    "type",
    objects(description, {
      type: text("Type of the condition."),
      status: text("True, False or Unknown."),
      reason: text("Reason for the last transition, as one CamelCase word."),
      message: text("Details for people."),
      lastTransitionTime: time("Time of the last change of the status."),
      ...more,
    }),
  );
