import type { JsonSchema } from "@virtual-workspaces/apimachinery";

// Parts of the schemas of Kubernetes' kinds. As there, what is missing is told by validation, in its own words.

/** A text. */
export const text = (description: string): JsonSchema => ({ type: "string", description });
/** A list of texts that is replaced as a whole. */
export const texts = (description: string): JsonSchema => ({
  type: "array",
  description,
  items: { type: "string" },
  "x-kubernetes-list-type": "atomic",
});
/** A list of texts of which each is there once; everybody may add theirs. */
export const textSet = (description: string): JsonSchema => ({
  ...texts(description),
  "x-kubernetes-list-type": "set",
});
/** A map from texts to texts. */
export const textMap = (description: string): JsonSchema => ({
  type: "object",
  description,
  additionalProperties: { type: "string" },
});
/** An integer of 32 bits. */
export const int32 = (description: string): JsonSchema => ({ type: "integer", format: "int32", description });
/** An integer of 64 bits. */
export const int64 = (description: string): JsonSchema => ({ type: "integer", format: "int64", description });
/** True or false. */
export const flag = (description: string): JsonSchema => ({ type: "boolean", description });
/** A time, RFC 3339; null is none. */
export const time = (description: string): JsonSchema => ({
  type: "string",
  format: "date-time",
  nullable: true,
  description,
});
/** An object of these members. */
export const object = (description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "object",
  description,
  properties,
});
/** A list of objects that is replaced as a whole. */
export const objects = (description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "array",
  description,
  items: { type: "object", properties },
  "x-kubernetes-list-type": "atomic",
});
/** A list of objects told apart by one of their members, to which everybody may add theirs. */
export const keyed = (key: string, list: JsonSchema): JsonSchema => ({
  ...list,
  ...(list.items === undefined ? {} : { items: { ...list.items, required: [key] } }),
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": [key],
  "x-kubernetes-patch-strategy": "merge",
  "x-kubernetes-patch-merge-key": key,
});

/** A reference to another object (ObjectReference). */
export const reference = (description: string): JsonSchema => ({
  ...object(description, {
    kind: text("Its kind."),
    namespace: text("Its namespace."),
    name: text("Its name."),
    uid: text("Its uid."),
    apiVersion: text("Its API version."),
    resourceVersion: text("The version of it that was meant."),
    fieldPath: text("The part of it that was meant: spec.containers{name}."),
  }),
  "x-kubernetes-map-type": "atomic",
});

/** Conditions of a status. */
export const conditions = (description: string, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema =>
  keyed(
    "type",
    objects(description, {
      type: text("What it is about."),
      status: text("True, False or Unknown."),
      reason: text("Why, in one word."),
      message: text("Why, in words."),
      lastTransitionTime: time("Since when."),
      ...more,
    }),
  );
