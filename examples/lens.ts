// A writable view: everybody sees and writes their own todos as reminders, which are kept as what they are, todos.
import { authenticated, defineResource, defineVirtualWorkspace, view } from "@virtual-workspaces/framework";
import { todos } from "./todo.ts";

const Reminder = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Reminder",
  scope: "Namespaced",
  description: "Something that you have to do.",
  spec: { type: "object", required: ["text"], properties: { text: { type: "string" }, done: { type: "boolean" } } },
  columns: { Text: ".spec.text" },
});

todos.in("root", "default").set("pay", { title: "Pay the rent", done: false, owner: "admin" });

const reminders = view({
  from: todos,
  to: Reminder,
  varyBy: ({ identity }) => identity.name,
  select: ({ spec }, { variant }) => spec.owner === variant && spec.done !== true,
  map: ({ spec }) => ({ spec: { text: spec.title } }),
  // The way back. What a reminder does not show of its todo is taken over from `source`; a new todo is its maker's.
  mapToSource: ({ spec }, { variant, source }) => ({
    spec: { owner: variant, ...source?.spec, title: spec.text, done: spec.done ?? false },
  }),
  // Whoever is done no longer sees it: without this, such a write would be refused.
  allowLeavingView: true,
});

export default defineVirtualWorkspace({
  name: "lens",
  path: "/clusters/:cluster",
  authorize: authenticated(),
  resources: [Reminder.serve(reminders)],
});
