import type { ProtobufField, ProtobufMessage } from "./message.ts";

// Field numbers from k8s.io/apimachinery's generated.proto for types shared by all kinds.

const owner: ProtobufMessage = {
  1: { name: "kind" },
  3: { name: "name" },
  4: { name: "uid" },
  5: { name: "apiVersion" },
  6: { name: "controller", of: "boolean", empty: "kept" },
  7: { name: "blockOwnerDeletion", of: "boolean", empty: "kept" },
};

const managedFields: ProtobufMessage = {
  1: { name: "manager" },
  2: { name: "operation" },
  3: { name: "apiVersion" },
  4: { name: "time", of: "time" },
  6: { name: "fieldsType" },
  7: { name: "fieldsV1", of: "json" },
  8: { name: "subresource" },
};

/** Field 1 of every object (metav1.ObjectMeta). */
export const PROTOBUF_METADATA: ProtobufField = {
  name: "metadata",
  of: {
    1: { name: "name" },
    2: { name: "generateName" },
    3: { name: "namespace" },
    5: { name: "uid" },
    6: { name: "resourceVersion" },
    7: { name: "generation", of: "integer" },
    8: { name: "creationTimestamp", of: "time" },
    9: { name: "deletionTimestamp", of: "time" },
    10: { name: "deletionGracePeriodSeconds", of: "integer", empty: "kept" },
    11: { name: "labels", form: "map" },
    12: { name: "annotations", form: "map" },
    13: { name: "ownerReferences", of: owner, form: "list" },
    14: { name: "finalizers", form: "list" },
    17: { name: "managedFields", of: managedFields, form: "list" },
  },
};

/** Options of a delete (metav1.DeleteOptions). */
export const PROTOBUF_DELETE_OPTIONS: ProtobufMessage = {
  1: { name: "gracePeriodSeconds", of: "integer", empty: "kept" },
  2: {
    name: "preconditions",
    of: { 1: { name: "uid", empty: "kept" }, 2: { name: "resourceVersion", empty: "kept" } },
  },
  3: { name: "orphanDependents", of: "boolean", empty: "kept" },
  4: { name: "propagationPolicy", empty: "kept" },
  5: { name: "dryRun", form: "list" },
};

/** Field with a list of texts. */
export const texts = (name: string): ProtobufField => ({ name, form: "list" });

/** A map to lists of strings; each list is a message of its own in protobuf. */
export const lists = (name: string): ProtobufField => ({
  name,
  of: { 1: texts("items") },
  form: "map",
  to: ({ items = [] }) => items,
});

/** Kubernetes' LabelSelector. */
export const labelSelector: ProtobufMessage = {
  1: { name: "matchLabels", form: "map" },
  2: {
    name: "matchExpressions",
    form: "list",
    of: { 1: { name: "key", empty: "kept" }, 2: { name: "operator", empty: "kept" }, 3: texts("values") },
  },
};
