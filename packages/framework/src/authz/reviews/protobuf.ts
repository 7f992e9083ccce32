import type { ProtobufMessage } from "../../body/protobuf/message.ts";
import { lists, PROTOBUF_METADATA, texts } from "../../body/protobuf/meta.ts";

// Field numbers from k8s.io/api's generated.proto. Fields of self reviews that clients do not send are omitted.

const requirement: ProtobufMessage = {
  1: { name: "key", empty: "kept" },
  2: { name: "operator", empty: "kept" },
  3: texts("values"),
};
const selector: ProtobufMessage = {
  1: { name: "rawSelector" },
  2: { name: "requirements", of: requirement, form: "list" },
};
const resourceAttributes: ProtobufMessage = {
  1: { name: "namespace" },
  2: { name: "verb" },
  3: { name: "group" },
  4: { name: "version" },
  5: { name: "resource" },
  6: { name: "subresource" },
  7: { name: "name" },
  8: { name: "fieldSelector", of: selector },
  9: { name: "labelSelector", of: selector },
};
const nonResourceAttributes: ProtobufMessage = { 1: { name: "path" }, 2: { name: "verb" } };

export const SELF_REVIEW: ProtobufMessage = { 1: PROTOBUF_METADATA };
const about: ProtobufMessage = {
  1: { name: "resourceAttributes", of: resourceAttributes },
  2: { name: "nonResourceAttributes", of: nonResourceAttributes },
};
export const ACCESS_REVIEW: ProtobufMessage = { 1: PROTOBUF_METADATA, 2: { name: "spec", of: about } };
export const SUBJECT_ACCESS_REVIEW: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: { ...about, 3: { name: "user" }, 4: texts("groups"), 5: lists("extra"), 6: { name: "uid" } },
  },
  3: {
    name: "status",
    of: {
      1: { name: "allowed", of: "boolean", empty: "kept" },
      2: { name: "reason" },
      3: { name: "evaluationError" },
      4: { name: "denied", of: "boolean" },
    },
  },
};
export const TOKEN_REVIEW: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "spec", of: { 1: { name: "token" }, 2: texts("audiences") } },
  3: {
    name: "status",
    of: {
      1: { name: "authenticated", of: "boolean" },
      2: {
        name: "user",
        of: { 1: { name: "username" }, 2: { name: "uid" }, 3: texts("groups"), 4: lists("extra") },
      },
      3: { name: "error" },
      4: texts("audiences"),
    },
  },
};
export const RULES_REVIEW: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "spec", of: { 1: { name: "namespace" } } },
};
