import { matchConditions, ruleWithOperations } from "./admission-messages.ts";
import type { ProtobufField, ProtobufMessage } from "./message.ts";
import { labelSelector, PROTOBUF_METADATA, texts } from "./meta.ts";

// Field numbers come from Kubernetes' generated.proto files, release 1.37; they never change.

const kept = (name: string): ProtobufField => ({ name, empty: "kept" });
const expression: ProtobufMessage = { 1: kept("expression") };

/** The message has the rule with operations in a field of its own, unlike JSON. */
const namedRules = (name: string): ProtobufField => ({
  name,
  form: "list",
  of: { 1: texts("resourceNames"), 2: { name: "ruleWithOperations", of: ruleWithOperations.of as ProtobufMessage } },
  to: ({ ruleWithOperations: rule, ...names }) => ({
    ...names,
    ...(ruleWithOperations.to?.((rule ?? {}) as Readonly<Record<string, unknown>>) as object | undefined),
  }),
});

const matchResources: ProtobufMessage = {
  1: { name: "namespaceSelector", of: labelSelector },
  2: { name: "objectSelector", of: labelSelector },
  3: namedRules("resourceRules"),
  4: namedRules("excludeResourceRules"),
  7: kept("matchPolicy"),
};

const paramKind: ProtobufField = { name: "paramKind", of: { 1: kept("apiVersion"), 2: kept("kind") } };
const paramRef: ProtobufField = {
  name: "paramRef",
  of: {
    1: { name: "name" },
    2: { name: "namespace" },
    3: { name: "selector", of: labelSelector },
    4: kept("parameterNotFoundAction"),
  },
};
const variables: ProtobufField = {
  name: "variables",
  form: "list",
  of: { 1: kept("name"), 2: kept("expression") },
};

export const validatingAdmissionPolicyMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: paramKind,
      2: { name: "matchConstraints", of: matchResources },
      3: {
        name: "validations",
        form: "list",
        of: { 1: kept("expression"), 2: { name: "message" }, 3: kept("reason"), 4: { name: "messageExpression" } },
      },
      4: kept("failurePolicy"),
      5: { name: "auditAnnotations", form: "list", of: { 1: kept("key"), 2: kept("valueExpression") } },
      6: matchConditions,
      7: variables,
    },
  },
};

export const validatingAdmissionPolicyBindingMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: kept("policyName"),
      2: paramRef,
      3: { name: "matchResources", of: matchResources },
      4: texts("validationActions"),
    },
  },
};

export const mutatingAdmissionPolicyMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: paramKind,
      2: { name: "matchConstraints", of: matchResources },
      3: variables,
      4: {
        name: "mutations",
        form: "list",
        of: {
          2: kept("patchType"),
          3: { name: "applyConfiguration", of: expression },
          4: { name: "jsonPatch", of: expression },
        },
      },
      5: kept("failurePolicy"),
      6: matchConditions,
      7: kept("reinvocationPolicy"),
    },
  },
};

export const mutatingAdmissionPolicyBindingMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: { 1: kept("policyName"), 2: paramRef, 3: { name: "matchResources", of: matchResources } },
  },
};
