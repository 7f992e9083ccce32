// What is compared with the oracle. Other stores and servers take its place by giving the same.
import { allow, converted, defineVirtualWorkspace, type ServedResource } from "@virtual-workspaces/framework";
import { startPlain } from "../_support/plain.ts";
import type { Target } from "./caller.ts";
import type { DifferentialKind } from "./kinds/kind.ts";

export interface Subject extends Target, AsyncDisposable {}

/** A view of ours: each kind on a collection of its own. */
export async function startSubject(kinds: readonly DifferentialKind[]): Promise<Subject> {
  let resources = served(kinds);
  const view = defineVirtualWorkspace({
    name: "differential",
    path: "/",
    authorize: () => allow(),
    resources: () => resources,
  });
  const server = await startPlain([view]);
  return {
    url: `${server.url}/services/differential`,
    headers: { authorization: "Bearer admin" },
    reset: async () => {
      resources = served(kinds);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Its other versions are the stored one's objects under another name, as with the conversion `None`. */
function served(kinds: readonly DifferentialKind[]): readonly ServedResource[] {
  return kinds.flatMap(([stored, ...others]) => {
    const collection = stored.collection({ garbageCollected: true });
    return [
      stored.serve(collection),
      ...others.map((version) => version.serve(converted({ from: collection, to: version }))),
    ];
  });
}
