// View of notes that another server authorizes.

import { type SubjectAccessReviewOptions, subjectAccessReview } from "@virtual-workspaces/forwarding";
import {
  type Authorizer,
  defineVirtualWorkspace,
  type Identity,
  staticTokens,
  union,
} from "@virtual-workspaces/framework";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";

type Params = { readonly cluster: string };

export interface AccessViewOptions extends SubjectAccessReviewOptions<Params> {
  /** Authorizer after it in a union. */
  readonly behind?: Authorizer<unknown>;
}

export const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
export const ALICE: Identity = {
  name: "alice",
  uid: "7",
  groups: Array.from({ length: 300 }, (_each, at) => `group-${at}-größe`),
  extra: { "example.dev/scopes": ["a", "ü"] },
};

/** Serves notes to `alice`, `bob` and `user-0`… */
export async function startView({ behind, ...options }: AccessViewOptions) {
  const errors: unknown[] = [];
  const access = subjectAccessReview<Params>({ onError: (error) => errors.push(error), ...options });
  const notes = Note.collection();
  notes.in("root").set("first", { text: "hello" });
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: behind === undefined ? access : union<Params>(access, behind),
    resources: [Note.serve(notes)],
  });
  const users = Object.fromEntries(
    Array.from({ length: 1_000 }, (_each, at) => [`user-${at}`, { name: `user-${at}` }]),
  );
  const server = await startPlain([view], {
    authentication: [staticTokens({ ...users, alice: ALICE, bob: { name: "bob" } })],
    impersonation: access as Authorizer<unknown>,
    limits: { inFlight: 5_000, perUser: 1, perVirtualWorkspace: 1 },
  });
  return {
    server,
    access,
    notes,
    errors,
    get: server.get,
    code: async (path = `${NOTES}/first`, user = "alice") => (await server.get(path, { user: user as "alice" })).status,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await access[Symbol.asyncDispose]();
    },
  };
}
