// Server with custom resources in each logical cluster, below /services/shard/clusters/<cluster>.
import { allow, defineVirtualWorkspace, type ServedResource } from "@virtual-workspaces/framework";
import { memoryStore, persistent, type Store } from "@virtual-workspaces/store";
import {
  CrdController,
  type CrdControllerOptions,
} from "../../../packages/workspace-server/src/crds/controller/controller.ts";
import { type PlainServer, startPlain } from "../../_support/plain.ts";
import { Crd } from "./kind.ts";

export interface Shard extends AsyncDisposable {
  readonly server: PlainServer;
  readonly crds: CrdController;
  readonly store: Store;
  readonly url: (cluster: string) => `/${string}`;
}

export interface ShardOptions extends Partial<CrdControllerOptions> {
  readonly keepStore?: boolean;
}

/** Returns the view of a controller. */
export function viewOf(crds: CrdController): ReturnType<typeof defineVirtualWorkspace> {
  const own = crds.serve();
  const only = Object.freeze([own]);
  const lists = new WeakMap<readonly ServedResource[], readonly ServedResource[]>();
  return defineVirtualWorkspace({
    name: "shard",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: ({ params }) => {
      const served = crds.servedIn(params.cluster);
      if (served.length === 0) return only;
      const list = lists.get(served) ?? [own, ...served];
      lists.set(served, list);
      return list;
    },
  });
}

export function controllerOf(store: Store, options: Partial<CrdControllerOptions> = {}): CrdController {
  return new CrdController({ crds: Crd.collection(persistent(store)), store, ...options });
}

/** Starts a server, with a store in memory by default. */
export async function startShard({
  store = memoryStore(),
  keepStore = false,
  ...options
}: ShardOptions = {}): Promise<Shard> {
  const crds = controllerOf(store, options);
  await crds.start();
  const server = await startPlain([viewOf(crds)]);
  return {
    server,
    crds,
    store,
    url: (cluster) => `/services/shard/clusters/${cluster}`,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await crds[Symbol.asyncDispose]();
      if (!keepStore) await store[Symbol.asyncDispose]();
    },
  };
}
