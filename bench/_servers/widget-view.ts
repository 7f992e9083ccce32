// What benches ask for: objects of one kind, in a view that is for whoever has logged in, and somebody who has.
import { authenticated, defineResource, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";

export const Widget = defineResource({
  group: "bench.example",
  version: "v1",
  kind: "Widget",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});

export const widgets = Widget.collection();

/** Served at `/services/bench`. */
export const view = defineVirtualWorkspace({
  name: "bench",
  path: "/",
  authorize: authenticated(),
  resources: [Widget.serve(widgets)],
});

/** Who has the token `bench-token`. */
export const tokens = staticTokens({ "bench-token": { name: "alice", groups: ["team"] } });
