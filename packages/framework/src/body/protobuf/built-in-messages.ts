import { mutatingWebhookConfigurationMessage, validatingWebhookConfigurationMessage } from "./admission-messages.ts";
import type { ProtobufField, ProtobufMessage } from "./message.ts";
import { labelSelector, lists, PROTOBUF_METADATA, texts } from "./meta.ts";
import {
  mutatingAdmissionPolicyBindingMessage,
  mutatingAdmissionPolicyMessage,
  validatingAdmissionPolicyBindingMessage,
  validatingAdmissionPolicyMessage,
} from "./policy-messages.ts";

// Field numbers come from Kubernetes' generated.proto files, release 1.37; they never change.

const condition: ProtobufMessage = {
  1: { name: "type", empty: "kept" },
  2: { name: "status", empty: "kept" },
  4: { name: "lastTransitionTime", of: "time" },
  5: { name: "reason" },
  6: { name: "message" },
};

const namespaceMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "spec", of: { 1: texts("finalizers") } },
  3: { name: "status", of: { 1: { name: "phase" }, 2: { name: "conditions", of: condition, form: "list" } } },
};

const configMapMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "data", form: "map" },
  3: { name: "binaryData", of: "bytes", form: "map" },
  4: { name: "immutable", of: "boolean", empty: "kept" },
};

const secretMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "data", of: "bytes", form: "map" },
  3: { name: "type" },
  4: { name: "stringData", form: "map" },
  5: { name: "immutable", of: "boolean", empty: "kept" },
};

const objectReference: ProtobufMessage = {
  1: { name: "kind" },
  2: { name: "namespace" },
  3: { name: "name" },
  4: { name: "uid" },
  5: { name: "apiVersion" },
  6: { name: "resourceVersion" },
  7: { name: "fieldPath" },
};

const serviceAccountMessage: ProtobufMessage = {
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

const resourceQuotaMessage: ProtobufMessage = {
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

const leaseMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: { name: "holderIdentity", empty: "kept" },
      2: { name: "leaseDurationSeconds", of: "integer", empty: "kept" },
      3: { name: "acquireTime", of: "microTime" },
      4: { name: "renewTime", of: "microTime" },
      5: { name: "leaseTransitions", of: "integer", empty: "kept" },
      6: { name: "strategy", empty: "kept" },
      7: { name: "preferredHolder", empty: "kept" },
    },
  },
};

const source: ProtobufMessage = { 1: { name: "component" }, 2: { name: "host" } };

/** `v1` Event. */
const coreEventMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "involvedObject", of: objectReference },
  3: { name: "reason" },
  4: { name: "message" },
  5: { name: "source", of: source },
  6: { name: "firstTimestamp", of: "time" },
  7: { name: "lastTimestamp", of: "time" },
  8: { name: "count", of: "integer" },
  9: { name: "type" },
  10: { name: "eventTime", of: "microTime" },
  11: { name: "series", of: { 1: { name: "count", of: "integer" }, 2: { name: "lastObservedTime", of: "microTime" } } },
  12: { name: "action" },
  13: { name: "related", of: objectReference },
  14: { name: "reportingComponent", empty: "kept" },
  15: { name: "reportingInstance", empty: "kept" },
};

/** `events.k8s.io/v1` Event. */
const eventMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "eventTime", of: "microTime" },
  3: {
    name: "series",
    of: { 1: { name: "count", of: "integer", empty: "kept" }, 2: { name: "lastObservedTime", of: "microTime" } },
  },
  4: { name: "reportingController" },
  5: { name: "reportingInstance" },
  6: { name: "action" },
  7: { name: "reason" },
  8: { name: "regarding", of: objectReference },
  9: { name: "related", of: objectReference },
  10: { name: "note" },
  11: { name: "type" },
  12: { name: "deprecatedSource", of: source },
  13: { name: "deprecatedFirstTimestamp", of: "time" },
  14: { name: "deprecatedLastTimestamp", of: "time" },
  15: { name: "deprecatedCount", of: "integer" },
};

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

const roleMessage: ProtobufMessage = { 1: PROTOBUF_METADATA, 2: rules };

const clusterRoleMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: rules,
  3: { name: "aggregationRule", of: { 1: { name: "clusterRoleSelectors", of: labelSelector, form: "list" } } },
};

const bindingMessage: ProtobufMessage = {
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

const tokenRequestMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: texts("audiences"),
      3: {
        name: "boundObjectRef",
        of: { 1: { name: "kind" }, 2: { name: "apiVersion" }, 3: { name: "name" }, 4: { name: "uid" } },
      },
      4: { name: "expirationSeconds", of: "integer", empty: "kept" },
    },
  },
  3: { name: "status", of: { 1: { name: "token", empty: "kept" }, 2: { name: "expirationTimestamp", of: "time" } } },
};

const certificateCondition: ProtobufMessage = {
  1: { name: "type", empty: "kept" },
  2: { name: "reason" },
  3: { name: "message" },
  4: { name: "lastUpdateTime", of: "time" },
  5: { name: "lastTransitionTime", of: "time" },
  6: { name: "status", empty: "kept" },
};

/** `certificates.k8s.io/v1` CertificateSigningRequest. */
const certificateSigningRequestMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: { name: "request", of: "bytes", empty: "kept" },
      2: { name: "username" },
      3: { name: "uid" },
      4: texts("groups"),
      5: texts("usages"),
      6: lists("extra"),
      7: { name: "signerName", empty: "kept" },
      8: { name: "expirationSeconds", of: "integer", empty: "kept" },
    },
  },
  3: {
    name: "status",
    of: {
      1: { name: "conditions", of: certificateCondition, form: "list" },
      2: { name: "certificate", of: "bytes" },
    },
  },
};

const MESSAGES: Readonly<Record<string, ProtobufMessage>> = {
  "/v1 ConfigMap": configMapMessage,
  "/v1 Event": coreEventMessage,
  "/v1 Namespace": namespaceMessage,
  "/v1 ResourceQuota": resourceQuotaMessage,
  "/v1 Secret": secretMessage,
  "/v1 ServiceAccount": serviceAccountMessage,
  "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy": mutatingAdmissionPolicyMessage,
  "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding": mutatingAdmissionPolicyBindingMessage,
  "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration": mutatingWebhookConfigurationMessage,
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy": validatingAdmissionPolicyMessage,
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding": validatingAdmissionPolicyBindingMessage,
  "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": validatingWebhookConfigurationMessage,
  "authentication.k8s.io/v1 TokenRequest": tokenRequestMessage,
  "certificates.k8s.io/v1 CertificateSigningRequest": certificateSigningRequestMessage,
  "coordination.k8s.io/v1 Lease": leaseMessage,
  "events.k8s.io/v1 Event": eventMessage,
  "rbac.authorization.k8s.io/v1 ClusterRole": clusterRoleMessage,
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": bindingMessage,
  "rbac.authorization.k8s.io/v1 Role": roleMessage,
  "rbac.authorization.k8s.io/v1 RoleBinding": bindingMessage,
};

/** Returns the encoding of one of Kubernetes' own kinds, if it is known here. */
export function builtInMessage({ group, version, kind }: Names): ProtobufMessage | undefined {
  return MESSAGES[`${group}/${version} ${kind}`];
}

interface Names {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
