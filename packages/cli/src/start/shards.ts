import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { keepHistory, type Store } from "@virtual-workspaces/store";
import type { ComposedFeatures, ShardStoreContext, ShardsOptions } from "@virtual-workspaces/workspace-server";
import { openStore } from "../server/open-store.ts";
import type { StoreChoice } from "../server/store-choice.ts";
import { urlsAt } from "./endpoint.ts";
import type { StartOptions } from "./start-options.ts";

/** Shards in the same process: beside the store of `root`, and at the ports behind that of the server. */
export function shardsOf(options: StartOptions, { ofShard }: Pick<ComposedFeatures, "ofShard">): ShardsOptions {
  const { place, shards } = options;
  return {
    names: shards,
    storeOf: (name, context) => shardStore(options, name, context),
    listen: (name) => ({ host: place.bindAddress, port: portOf(name, place.port) }),
    urls: (name, { port }) => {
      // What the flags say is of the server, where users come to, unless they say it of each shard.
      const { baseURL, virtualWorkspaceURL } = urlsAt({ ...place, urls: {} }, port);
      const { views } = place;
      return { baseURL, virtualWorkspaceURL: views?.isOfEach === true ? views.of(name) : virtualWorkspaceURL };
    },
    virtualWorkspaces: ofShard,
  };
}

/** The ports behind the server's own are for `shard-1` and so on; where that has any free one, others do too. */
function portOf(name: string, port: number): number {
  const [, number = "0"] = /^shard-([1-9]\d{0,3})$/.exec(name) ?? [];
  const own = port + Number(number);
  return port === 0 || number === "0" || own > 65_535 ? 0 : own;
}

/** Opens the store where views of a shard keep objects of their own, beside its own; `own` closes it. */
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
        log({ level: "warn", message: "history of the store not kept short", shard: name, error: String(error) }),
    }),
  );
  return store;
}

/** What comes after nobody waits for it any more is closed. */
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

/** What etcd's keys begin with if nobody says. */
const PREFIX = "/virtual-workspaces";
/** What the name of a place ends with where views keep objects. */
const OF_VIEWS = "of-views";

/**
 * The place of a shard's objects: of `data` it is `data-shard-1`.
 *
 * @throws Error on a name by which it would be the place of another shard's views
 */
function storeOfShard(choice: StoreChoice, name: string): StoreChoice {
  if (name === OF_VIEWS || name.endsWith(`-${OF_VIEWS}`))
    throw new Error(`the store of a shard called ${name} would be that of another's views: give it another name`);
  return besideIt(choice, name);
}

/** Where views keep objects of their own: whose names are theirs, and must not be those of workspaces' objects. */
function storeOfViews(choice: StoreChoice): StoreChoice {
  return besideIt(choice, OF_VIEWS);
}

function besideIt(choice: StoreChoice, end: string): StoreChoice {
  if (choice.engine === "lmdb") return { ...choice, dir: `${choice.dir}-${end}` };
  if (choice.engine !== "etcd") return choice;
  return { ...choice, prefix: `${(choice.prefix ?? PREFIX).replace(/\/+$/, "")}-${end}` };
}
