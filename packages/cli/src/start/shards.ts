import { keepHistory, type Store } from "@virtual-workspaces/store";
import type { ShardStoreContext, ShardsOptions } from "@virtual-workspaces/workspace-server";
import type { Flags } from "../flags/flags.ts";
import { openStore } from "../store/open.ts";
import { UsageError } from "../usage.ts";
import type { StartOptions } from "./options.ts";
import { urlsAt } from "./place.ts";
import { storeOfShard } from "./shard-stores.ts";
import type { Views } from "./views.ts";

/** Shards that one process has by `--shards`; more than that is more than one process can do. */
const MOST = 64;

/** The names of the shards besides `root` that there are in any case, as kcp calls them. @throws UsageError */
export function shardNames(flags: Flags): readonly string[] {
  const count = flags.count("shards", { fallback: 1, most: MOST });
  if (count === 0) throw new UsageError("--shards 0: give a number from 1 on: the first is root");
  return Array.from({ length: count - 1 }, (_, index) => `shard-${index + 1}`);
}

/** Shards in the same process: beside the store of `root`, and at the ports behind that of the server. */
export function shardsOf(options: StartOptions, { ofShard }: Pick<Views, "ofShard">): ShardsOptions {
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
    ...(ofShard && { virtualWorkspaces: ofShard }),
  };
}

/** The ports behind the server's own are for `shard-1` and so on; where that has any free one, others do too. */
function portOf(name: string, port: number): number {
  const [, number = "0"] = /^shard-([1-9]\d{0,3})$/.exec(name) ?? [];
  const own = port + Number(number);
  return port === 0 || number === "0" || own > 65_535 ? 0 : own;
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
