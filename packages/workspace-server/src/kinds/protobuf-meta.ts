import type { ProtobufField, ProtobufMessage } from "@virtual-workspaces/framework";

// Field numbers are those of Kubernetes' generated.proto files, release 1.37; they never change.

/** A list of texts. */
export const texts = (name: string): ProtobufField => ({ name, form: "list" });

/** Kubernetes' LabelSelector. */
export const labelSelector: ProtobufMessage = {
  1: { name: "matchLabels", form: "map" },
  2: {
    name: "matchExpressions",
    form: "list",
    of: { 1: { name: "key", empty: "kept" }, 2: { name: "operator", empty: "kept" }, 3: texts("values") },
  },
};
