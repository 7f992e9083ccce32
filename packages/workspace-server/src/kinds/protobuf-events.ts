import { PROTOBUF_METADATA, type ProtobufMessage } from "@virtual-workspaces/framework";
import { objectReference } from "./protobuf.ts";

const source: ProtobufMessage = { 1: { name: "component" }, 2: { name: "host" } };

/** `v1` Event. */
export const coreEventMessage: ProtobufMessage = {
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
export const eventMessage: ProtobufMessage = {
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
