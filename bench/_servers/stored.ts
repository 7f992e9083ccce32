// What is measured: a view of kinds in a store, with token authentication.
import {
  authenticated,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";
import { etcdStore, lmdbStore, persistent, type Store } from "@virtual-workspaces/store";
import { anonymousMemory } from "../_harness/anonymous-memory.ts";
import { serveCommands } from "../_harness/commands.ts";
import { copies, type Filling } from "./stored-fill.ts";
import { GROUP, KINDS, keyOf, nameOf, type StoredKind, type StorePlace } from "./stored-kinds.ts";

const kinds = KINDS.map((kind) =>
  defineResource({
    group: GROUP,
    version: "v1",
    kind,
    scope: "Cluster",
    spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  }),
);

let store: Store;
let collections: readonly ReturnType<typeof keep>[] = [];

const openStore = (place: StorePlace): Promise<Store> =>
  "dir" in place ? lmdbStore(place) : etcdStore({ endpoints: [place.endpoint], prefix: place.prefix });
const keep = (kind: (typeof kinds)[number]) => kind.collection(persistent(store));

const commands = {
  ...anonymousMemory,
  open: async (place: StorePlace): Promise<void> => {
    store = await openStore(place);
    collections = kinds.map(keep);
  },
  close: () => store[Symbol.asyncDispose](),
  /** @returns how long it took, ms */
  openAndGet: async ({
    place,
    kind,
    name,
  }: {
    readonly place: StorePlace;
    readonly kind: StoredKind;
    readonly name: string;
  }): Promise<number> => {
    const began = performance.now();
    await using opened = await openStore(place);
    if ((await opened.get(keyOf(kind, name))) === undefined) throw new Error(`there is no ${kind} ${name}`);
    return performance.now() - began;
  },
  listen: async (): Promise<number> => {
    const server = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "bench",
          path: "/",
          authorize: authenticated(),
          resources: kinds.map((kind, at) => kind.serve(collections[at] as ReturnType<typeof keep>)),
        }),
      ],
      authentication: [staticTokens({ "bench-token": { name: "alice", groups: ["team"] } })],
    });
    return (await server.listen({ port: 0 })).port;
  },
  /** Keeps so many objects, or changes of objects, whose JSON is about `bytes` long each. @returns the revision before */
  fill: async ({ bytes, ...filling }: Filling & { readonly bytes: number }): Promise<number> => {
    const part = (collections[KINDS.indexOf(filling.kind)] as ReturnType<typeof keep>).in("");
    const spec = { n: 1_000_000, text: "" };
    const bare = await part.set(nameOf(0), spec);
    const text = "x".repeat(Math.max(0, bytes - JSON.stringify(bare).length));
    return copies(store, await part.set(nameOf(0), { ...spec, text }), filling);
  },
};

export type Stored = typeof commands;

serveCommands(commands);
