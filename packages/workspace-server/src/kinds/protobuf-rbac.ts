import { PROTOBUF_METADATA, type ProtobufField, type ProtobufMessage } from "@virtual-workspaces/framework";
import { labelSelector, texts } from "./protobuf-meta.ts";

const rules: ProtobufField = {
  name: "rules",
  form: "list",
  of: {
    1: texts("verbs"),
    2: texts("apiGroups"),
    3: texts("resources"),
    4: texts("resourceNames"),
    5: texts("nonResourceURLs"),
  },
};

export const roleMessage: ProtobufMessage = { 1: PROTOBUF_METADATA, 2: rules };

export const clusterRoleMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: rules,
  3: { name: "aggregationRule", of: { 1: { name: "clusterRoleSelectors", of: labelSelector, form: "list" } } },
};

export const bindingMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "subjects",
    form: "list",
    of: {
      1: { name: "kind", empty: "kept" },
      2: { name: "apiGroup" },
      3: { name: "name", empty: "kept" },
      4: { name: "namespace" },
    },
  },
  3: {
    name: "roleRef",
    of: { 1: { name: "apiGroup" }, 2: { name: "kind", empty: "kept" }, 3: { name: "name", empty: "kept" } },
  },
};
