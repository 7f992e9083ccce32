import { PROTOBUF_METADATA, type ProtobufMessage } from "@virtual-workspaces/framework";
import { texts } from "./protobuf-meta.ts";

const condition: ProtobufMessage = {
  1: { name: "type", empty: "kept" },
  2: { name: "status", empty: "kept" },
  4: { name: "lastTransitionTime", of: "time" },
  5: { name: "reason" },
  6: { name: "message" },
};

export const namespaceMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "spec", of: { 1: texts("finalizers") } },
  3: { name: "status", of: { 1: { name: "phase" }, 2: { name: "conditions", of: condition, form: "list" } } },
};

export const configMapMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "data", form: "map" },
  3: { name: "binaryData", of: "bytes", form: "map" },
  4: { name: "immutable", of: "boolean", empty: "kept" },
};

export const secretMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "data", of: "bytes", form: "map" },
  3: { name: "type" },
  4: { name: "stringData", form: "map" },
  5: { name: "immutable", of: "boolean", empty: "kept" },
};

export const objectReference: ProtobufMessage = {
  1: { name: "kind" },
  2: { name: "namespace" },
  3: { name: "name" },
  4: { name: "uid" },
  5: { name: "apiVersion" },
  6: { name: "resourceVersion" },
  7: { name: "fieldPath" },
};

export const serviceAccountMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "secrets", of: objectReference, form: "list" },
  3: { name: "imagePullSecrets", of: { 1: { name: "name" } }, form: "list" },
  4: { name: "automountServiceAccountToken", of: "boolean", empty: "kept" },
};

const quantities = (name: string) => ({ name, of: "quantity", form: "map" }) as const;
const scopeRequirement: ProtobufMessage = {
  1: { name: "scopeName", empty: "kept" },
  2: { name: "operator", empty: "kept" },
  3: texts("values"),
};

export const resourceQuotaMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: quantities("hard"),
      2: texts("scopes"),
      3: { name: "scopeSelector", of: { 1: { name: "matchExpressions", of: scopeRequirement, form: "list" } } },
    },
  },
  3: { name: "status", of: { 1: quantities("hard"), 2: quantities("used") } },
};
