// View that gives every check of the conformance suite something to check: it has several namespaced objects with labels.
import {
  allow,
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { Mutations } from "@virtual-workspaces/testing";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Namespaced",
  shortNames: ["nt"],
  spec: { type: "object", properties: { text: { type: "string" } } },
  columns: { Text: ".spec.text" },
});

export interface NotesView {
  readonly view: VirtualWorkspace;
  /** Path below the server's URL. */
  readonly path: string;
  readonly mutate: Mutations;
}

/** Serves four notes in two namespaces, two of them with labels, and returns hooks that change them. */
export function notesView(): NotesView {
  const notes = Note.collection();
  const here = notes.in("root", "default");
  here.set("a", { text: "first" }, { labels: { color: "blue" } });
  here.set("b", { text: "second" }, { labels: { color: "red" } });
  here.set("c", { text: "third" });
  notes.in("root", "other").set("a", { text: "elsewhere" });
  let made = 0;
  return {
    path: "/services/notes/clusters/root",
    view: defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      authorize: authenticated(),
      resources: [Note.serve(notes, { verbs: ["get", "list", "watch"] })],
    }),
    mutate: {
      create: () => {
        const name = `made-${++made}`;
        here.set(name, { text: "new" });
        return { namespace: "default", name };
      },
      update: (_, { name }) => void here.set(name, { text: `${here.get(name)?.spec.text} and newer` }),
      delete: (_, { name }) => void here.delete(name),
    },
  };
}

const WritableNote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Namespaced",
  spec: { type: "object", required: ["color"], properties: { color: { type: "string", enum: ["blue", "red"] } } },
  status: { type: "object", properties: { read: { type: "boolean" } } },
  selectableFields: [".spec.color"],
  gracePeriodSeconds: 30,
});

/** Serves notes that are writable over HTTP, without any at first. The user `patcher` may only patch. */
export function writableNotesView(): Omit<NotesView, "mutate"> & { readonly mutate?: undefined } {
  return {
    path: "/services/notes/clusters/root",
    view: defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      authorize: ({ user, verb }) => (user.name === "patcher" && verb !== "patch" ? deny("patches only") : allow()),
      resources: [WritableNote.serve(WritableNote.collection())],
    }),
  };
}
