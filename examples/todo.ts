// A view that can be written: everything that kubectl and controllers do to objects works, and the schema has a say.
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";

export const Todo = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Todo",
  scope: "Namespaced",
  shortNames: ["td"],
  description: "Something to be done.",
  spec: {
    type: "object",
    required: ["title"],
    properties: {
      title: { type: "string", maxLength: 100, description: "What." },
      done: { type: "boolean", default: false },
      owner: { type: "string", maxLength: 63, description: "Whose it is: whoever made it, unless said." },
    },
    "x-kubernetes-validations": [
      { rule: "self.title.trim() != ''", message: "say what is to be done", fieldPath: ".title" },
      { rule: "!has(oldSelf.owner) || has(self.owner) && self.owner == oldSelf.owner", message: "the owner stays" },
    ],
  },
  status: { type: "object", properties: { phase: { type: "string", enum: ["Open", "Started", "Done"] } } },
  columns: { Title: ".spec.title", Done: ".spec.done", Owner: ".spec.owner", Phase: ".status.phase" },
  selectableFields: [".spec.owner"],
});

export const todos = Todo.collection();
todos.in("root", "default").set("water", { title: "Water the plants", done: false, owner: "alice" });

export default defineVirtualWorkspace({
  name: "todo",
  path: "/clusters/:cluster",
  authorize: authenticated(),
  resources: [
    Todo.serve(todos, {
      // Before validation: what is returned is what will be kept.
      admit: ({ operation, object, user }) =>
        operation === "CREATE" && object !== undefined
          ? { ...object, spec: { owner: user.name, ...object.spec } }
          : undefined,
    }),
  ],
});
