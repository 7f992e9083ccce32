// Modules of users as text, because `dev` loads files.

export interface ViewText {
  readonly name?: string;
  readonly path?: string;
  readonly text?: string;
  /** Further members of the view. */
  readonly more?: string;
  /** Code after the view. */
  readonly after?: string;
}

/** Returns a view of one cluster-scoped kind with one object. The kind is the view's name with a capital. */
export function viewText(options: ViewText = {}): string {
  const { name = "note", path = "/clusters/:cluster", text = "first", more = "", after = "" } = options;
  const kind = name.charAt(0).toUpperCase() + name.slice(1);
  return `
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
const Kind = defineResource({
  group: "test.dev", version: "v1", kind: "${kind}", scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
  columns: { Text: ".spec.text" },
});
const objects = Kind.collection();
objects.in("root").set("one", { text: "${text}" });
export default defineVirtualWorkspace({
  name: "${name}", path: "${path}", authorize: authenticated(), resources: [Kind.serve(objects)], ${more}
});
${after}
`;
}

export interface HostedText {
  /** Code that uses the host before the view is created. */
  readonly first?: string;
  /** Further members of the view. */
  readonly more?: string;
}

/** Returns a view of one cluster-scoped kind: a function of the host, with objects in the host's store. */
export function hostedText({ first = "", more = "" }: HostedText = {}): string {
  return `
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { persistent } from "@virtual-workspaces/store";
const Note = defineResource({
  group: "test.dev", version: "v1", kind: "Note", scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
  columns: { Text: ".spec.text" },
});
export default async ({ store }) => {
  ${first}
  return defineVirtualWorkspace({
    name: "note", path: "/clusters/:cluster", authorize: authenticated(),
    resources: [Note.serve(Note.collection(persistent(store)))], ${more}
  });
};
`;
}
