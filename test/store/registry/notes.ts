// Server over a store, which these tests restart without the store.
import {
  allow,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  type ServerOptions,
} from "@virtual-workspaces/framework";
import { type PersistentOptions, persistent, type Store } from "@virtual-workspaces/store";
import { type PlainServer, startPlain } from "../../_support/plain.ts";

export const Note = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", required: ["n"], properties: { n: { type: "integer" }, big: { type: "string" } } },
  status: { type: "object", properties: { seen: { type: "integer" } } },
  selectableFields: [".spec.n"],
});

/** Another version of notes. */
export const Second = defineResource({
  group: "test.dev",
  version: "v2",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", properties: { count: { type: "integer" } } },
});

const Memo = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Memo",
  scope: "Namespaced",
  schema: { type: "object", properties: { text: { type: "string" } } },
});

export const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
export const ALL_NOTES = "/services/notes/clusters/*/apis/test.dev/v1/notes";
export const MEMOS = "/services/notes/clusters/root/apis/test.dev/v1/namespaces/default/memos";

export const note = (name: string, n: number, big?: string): object => ({
  apiVersion: "test.dev/v1",
  kind: "Note",
  metadata: { name },
  spec: { n, ...(big === undefined ? {} : { big }) },
});

/** Serves notes and memos of a store, and does not close it. */
export function startNotes(
  store: Store,
  options: PersistentOptions = {},
  server: Partial<ServerOptions> = {},
): Promise<PlainServer> {
  const keep = persistent(store, options);
  return serve([Note.serve(Note.collection(keep)), Memo.serve(Memo.collection(keep))], server);
}

/** Serves any storage in place of notes. */
export function serve(
  resources: readonly ServedResource[],
  options: Partial<ServerOptions> = {},
): Promise<PlainServer> {
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: () => allow(),
    resources,
  });
  return startPlain([view], options);
}

/** Returns the version of a list of notes. */
export async function versionOf(server: PlainServer): Promise<string> {
  return (await server.get(`${NOTES}?limit=1`)).body.metadata.resourceVersion;
}
