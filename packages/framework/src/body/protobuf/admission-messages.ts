import type { ProtobufField, ProtobufMessage } from "./message.ts";
import { labelSelector, PROTOBUF_METADATA, texts } from "./meta.ts";

// Field numbers come from Kubernetes' generated.proto files, release 1.37; they never change.

const clientConfig: ProtobufMessage = {
  1: {
    name: "service",
    of: {
      1: { name: "namespace", empty: "kept" },
      2: { name: "name", empty: "kept" },
      3: { name: "path", empty: "kept" },
      4: { name: "port", of: "integer", empty: "kept" },
    },
  },
  2: { name: "caBundle", of: "bytes" },
  3: { name: "url", empty: "kept" },
};

/** The message has the rule in a field of its own, unlike JSON. */
export const ruleWithOperations: Pick<ProtobufField, "of" | "to"> = {
  of: {
    1: texts("operations"),
    2: {
      name: "rule",
      of: {
        1: texts("apiGroups"),
        2: texts("apiVersions"),
        3: texts("resources"),
        4: { name: "scope", empty: "kept" },
      },
    },
  },
  to: ({ rule, ...operations }) => ({ ...operations, ...(rule as object | undefined) }),
};

const rules: ProtobufField = { name: "rules", form: "list", ...ruleWithOperations };

export const matchConditions: ProtobufField = {
  name: "matchConditions",
  form: "list",
  of: { 1: { name: "name", empty: "kept" }, 2: { name: "expression", empty: "kept" } },
};

const common: ProtobufMessage = {
  1: { name: "name", empty: "kept" },
  2: { name: "clientConfig", of: clientConfig },
  3: rules,
  4: { name: "failurePolicy", empty: "kept" },
  5: { name: "namespaceSelector", of: labelSelector },
  6: { name: "sideEffects", empty: "kept" },
  7: { name: "timeoutSeconds", of: "integer", empty: "kept" },
  8: texts("admissionReviewVersions"),
  9: { name: "matchPolicy", empty: "kept" },
};

export const validatingWebhookConfigurationMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "webhooks",
    form: "list",
    of: { ...common, 10: { name: "objectSelector", of: labelSelector }, 11: matchConditions },
  },
};

export const mutatingWebhookConfigurationMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "webhooks",
    form: "list",
    of: {
      ...common,
      10: { name: "reinvocationPolicy", empty: "kept" },
      11: { name: "objectSelector", of: labelSelector },
      12: matchConditions,
    },
  },
};
