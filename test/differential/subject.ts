// Implementation that is compared with the oracle. Other stores and servers provide the same interface.
import {
  allow,
  converted,
  defineVirtualWorkspace,
  type ServedResource,
  type WritableSource,
} from "@virtual-workspaces/framework";
import { persistent, type Store } from "@virtual-workspaces/store";
import { startPlain } from "../_support/plain.ts";
import type { Target } from "./caller.ts";
import type { DifferentialKind } from "./kinds/kind.ts";

export interface Subject extends Target, AsyncDisposable {}

/** Wraps the collection of a kind's objects for clients. */
export type Between = (stored: DifferentialKind[0]) => WritableSource;

const NOTHING: Between = (stored) => stored.collection({ garbageCollected: true });

/** Starts our view, with one collection for each kind. */
export async function startSubject(kinds: readonly DifferentialKind[], between = NOTHING): Promise<Subject> {
  let resources = served(kinds, between);
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
      resources = served(kinds, between);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Starts the view over a store. It is emptied through requests, so its history continues from case to case. */
export async function startOverStore(kinds: readonly DifferentialKind[], store: Store): Promise<Subject> {
  const keep = persistent(store, { garbageCollected: true });
  const { url, headers, ...subject } = await startSubject(kinds, (stored) => stored.collection(keep));
  return {
    url,
    headers,
    [Symbol.asyncDispose]: async () => {
      await subject[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** Other versions are the objects of the stored version under another name, as with the conversion `None`. */
function served(kinds: readonly DifferentialKind[], between: Between): readonly ServedResource[] {
  return kinds.flatMap(([stored, ...others]) => {
    const storage = between(stored);
    return [
      stored.serve(storage as never),
      ...others.map((version) => version.serve(converted({ from: storage, to: version }))),
    ];
  });
}
