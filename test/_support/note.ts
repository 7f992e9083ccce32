import { defineResource } from "@virtual-workspaces/framework";

/** Kind for tests that do not concern kinds. */
export const Note = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});
