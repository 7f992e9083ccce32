// Objects that outlive the process: they are kept in the store of whoever hosts this view.
// `--data-dir <folder>` keeps them on disk, `--etcd-servers <urls>` in etcd; without either they are in memory.
import {
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { type Host, persistent } from "@virtual-workspaces/store";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Namespaced",
  spec: {
    type: "object",
    required: ["text"],
    properties: { text: { type: "string", maxLength: 1000 }, pinned: { type: "boolean", default: false } },
  },
  columns: { Text: ".spec.text", Pinned: ".spec.pinned" },
});

/** Called once the store is open; what it returns is served. */
export default function notes({ store }: Host): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize: authenticated(),
    resources: [Note.serve(Note.collection(persistent(store)))],
  });
}
