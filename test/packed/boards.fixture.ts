// A user's view with rules, patterns and long bodies: each needs a module of the packages that is loaded on demand.
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";

const Board = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Board",
  scope: "Cluster",
  spec: {
    type: "object",
    required: ["code"],
    properties: {
      code: { type: "string", pattern: "^[A-Z]+-[0-9]+$", maxLength: 20 },
      text: { type: "string" },
      places: { type: "array", items: { type: "integer" }, maxItems: 400 },
    },
    "x-kubernetes-validations": [
      { rule: "self.code == oldSelf.code", message: "a board keeps its code" },
      { rule: "!has(self.places) || self.places.all(x, self.places.exists_one(y, x == y))", message: "no place twice" },
    ],
  },
});

export const boards = defineVirtualWorkspace({
  name: "boards",
  path: "/clusters/:cluster",
  authorize: authenticated(),
  resources: [Board.serve(Board.collection())],
});
