// A view with a panel of its own in the console.
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";

const Poll = defineResource({
  ...{ group: "example.dev", version: "v1", kind: "Poll", scope: "Cluster" },
  spec: { type: "object", properties: { question: { type: "string" }, votes: { type: "integer", default: 0 } } },
});

export default defineVirtualWorkspace({
  name: "polls",
  path: "/clusters/:cluster",
  authorize: authenticated(),
  resources: [Poll.serve(Poll.collection())],
  panels: [{ name: "polls", title: "Polls", module: new URL("./polls-panel.ts", import.meta.url) }],
});
