import { defineResource } from "@virtual-workspaces/framework";

/** A kind for tests that are not about kinds. */
export const Note = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});
