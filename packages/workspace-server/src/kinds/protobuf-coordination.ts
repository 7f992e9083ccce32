import { PROTOBUF_METADATA, type ProtobufMessage } from "@virtual-workspaces/framework";

export const leaseMessage: ProtobufMessage = {
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
