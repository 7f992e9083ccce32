import type { ProtobufMessage } from "../body/protobuf/message.ts";
import { PROTOBUF_METADATA } from "../body/protobuf/meta.ts";

// The field numbers of k8s.io/api's generated.proto; what a client does not say to us is left out.

const requirement: ProtobufMessage = {
  1: { name: "key" },
  2: { name: "operator" },
  3: { name: "values", form: "list" },
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
export const ACCESS_REVIEW: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: { name: "resourceAttributes", of: resourceAttributes },
      2: { name: "nonResourceAttributes", of: nonResourceAttributes },
    },
  },
};
export const RULES_REVIEW: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "spec", of: { 1: { name: "namespace" } } },
};
