import { PROTOBUF_METADATA, type ProtobufMessage } from "@virtual-workspaces/framework";
import { texts } from "./protobuf-meta.ts";

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
