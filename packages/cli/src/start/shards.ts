import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { keepHistory, type Store } from "@virtual-workspaces/store";
import type { ComposedFeatures, ShardStoreContext, ShardsOptions } from "@virtual-workspaces/workspace-server";
import { openStore } from "../server/open-store.ts";
import type { StoreChoice } from "../server/store-choice.ts";
import { urlsAt } from "./endpoint.ts";
import type { StartOptions } from "./start-options.ts";

/** Returns the options for further shards in this process: stores beside that of `root`, and ports after that of the server. */
export function shardsOf(options: StartOptions, { ofShard }: Pick<ComposedFeatures, "ofShard">): ShardsOptions {
  const { place, shards } = options;
  return {
    names: shards,
    storeOf: (name, context) => shardStore(options, name, context),
    listen: (name) => ({ host: place.bindAddress, port: portOf(name, place.port) }),
    urls: (name, { port }) => {
      // The URLs of the flags are those that users connect to, unless a flag has a placeholder for the shard.
      const { baseURL, virtualWorkspaceURL } = urlsAt({ ...place, urls: {} }, port);
      const { views } = place;
      return { baseURL, virtualWorkspaceURL: views?.isOfEach === true ? views.of(name) : virtualWorkspaceURL };
    },
    virtualWorkspaces: ofShard,
  };
}

/** Returns the port of a shard: the ports after the server's own are for `shard-1` and so on; without a fixed port, any free one. */
function portOf(name: string, port: number): number {
  const [, number = "0"] = /^shard-([1-9]\d{0,3})$/.exec(name) ?? [];
  const own = port + Number(number);
  return port === 0 || number === "0" || own > 65_535 ? 0 : own;
}

/** Opens the store for objects of a shard's views, beside the shard's own; `own` closes it. */
export async function openViewsStore(choice: StoreChoice, shard: string, own: AsyncDisposableStack): Promise<Store> {
  const store = own.use(await openStore(storeOfViews(shard === ROOT_SHARD ? choice : storeOfShard(choice, shard))));
  own.use(keepHistory(store));
  return store;
}

async function shardStore(
  { log, store: choice }: StartOptions,
  name: string,
  { own, signal }: ShardStoreContext,
): Promise<Store> {
  const coming = openStore(storeOfShard(choice, name));
  const store = own.use(await unlessAborted(coming, signal));
  own.use(
    keepHistory(store, {
      onError: (error) =>
        log({ level: "warn", message: "cannot compact the history of the store", shard: name, error: String(error) }),
    }),
  );
  return store;
}

/** Closes a store that opens after the signal. */
async function unlessAborted(coming: Promise<Store>, signal: AbortSignal): Promise<Store> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([coming, aborted]);
  } catch (error) {
    coming.then((late) => late[Symbol.asyncDispose]()).catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Default prefix of the keys in etcd. */
const PREFIX = "/virtual-workspaces";
/** Suffix of the stores for objects of views. */
const OF_VIEWS = "of-views";

/**
 * Returns the store of a shard: for `data` it is `data-shard-1`.
 *
 * @throws Error on a name whose store would be that of another shard's views
 */
function storeOfShard(choice: StoreChoice, name: string): StoreChoice {
  if (name === OF_VIEWS || name.endsWith(`-${OF_VIEWS}`))
    throw new Error(`invalid shard name "${name}": its store would be that of another shard's views: use another name`);
  return besideIt(choice, name);
}

/** Returns the store for objects of views. Separate, since views choose names that objects of workspaces could have, too. */
function storeOfViews(choice: StoreChoice): StoreChoice {
  return besideIt(choice, OF_VIEWS);
}

function besideIt(choice: StoreChoice, end: string): StoreChoice {
  if (choice.engine === "lmdb") return { ...choice, dir: `${choice.dir}-${end}` };
  if (choice.engine !== "etcd") return choice;
  return { ...choice, prefix: `${(choice.prefix ?? PREFIX).replace(/\/+$/, "")}-${end}` };
}
