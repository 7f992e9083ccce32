import { PROTOBUF_METADATA, type ProtobufField, type ProtobufMessage } from "@virtual-workspaces/framework";
import { texts } from "./meta.ts";

/** A map to lists of texts: each is a message of its own there. */
const lists = (name: string): ProtobufField => ({
  name,
  of: { 1: texts("items") },
  form: "map",
  to: ({ items = [] }) => items,
});

const userInfo: ProtobufMessage = {
  1: { name: "username" },
  2: { name: "uid" },
  3: texts("groups"),
  4: lists("extra"),
};

export const tokenReviewMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: { name: "spec", of: { 1: { name: "token" }, 2: texts("audiences") } },
  3: {
    name: "status",
    of: {
      1: { name: "authenticated", of: "boolean" },
      2: { name: "user", of: userInfo },
      3: { name: "error" },
      4: texts("audiences"),
    },
  },
};

export const tokenRequestMessage: ProtobufMessage = {
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

const selector = (name: string): ProtobufField => ({
  name,
  of: {
    1: { name: "rawSelector" },
    2: {
      name: "requirements",
      form: "list",
      of: { 1: { name: "key", empty: "kept" }, 2: { name: "operator", empty: "kept" }, 3: texts("values") },
    },
  },
});

export const accessReviewMessage: ProtobufMessage = {
  1: PROTOBUF_METADATA,
  2: {
    name: "spec",
    of: {
      1: {
        name: "resourceAttributes",
        of: {
          1: { name: "namespace" },
          2: { name: "verb" },
          3: { name: "group" },
          4: { name: "version" },
          5: { name: "resource" },
          6: { name: "subresource" },
          7: { name: "name" },
          8: selector("fieldSelector"),
          9: selector("labelSelector"),
        },
      },
      2: { name: "nonResourceAttributes", of: { 1: { name: "path" }, 2: { name: "verb" } } },
      3: { name: "user" },
      4: texts("groups"),
      5: lists("extra"),
      6: { name: "uid" },
    },
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
