import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { keepHistory } from "@virtual-workspaces/store";
import { type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { openStore } from "../store/open.ts";
import type { StoreChoice } from "../store/options.ts";
import { told } from "./failures.ts";
import type { StartOptions } from "./options.ts";
import { forwardedView } from "./services.ts";

/** Where the store keeps objects in etcd unless `--etcd-prefix` says otherwise. */
const ETCD_PREFIX = "/virtual-workspaces";

/** What is below `/services`, and by what it reaches the workspaces. */
export interface Views {
  readonly virtualWorkspaces: readonly VirtualWorkspace[];
  readonly loopback?: Loopback;
}

/** Names that the server's own views have. */
const OWN: readonly string[] = ["clusters", "shard", "cache", "workspaces", "virtual-workspaces"];

/** Loads the views of a start; what is opened for them is closed with `stack`. @throws Failure */
export async function viewsOf({ services, store, log }: StartOptions, stack: AsyncDisposableStack): Promise<Views> {
  const { views: paths, forwarded } = services;
  const onError = (error: unknown): void =>
    log({ level: "warn", message: "virtual workspaces elsewhere cannot be had", error: String(error) });
  if (forwarded !== undefined) return { virtualWorkspaces: [await told(() => forwardedView(forwarded, onError))] };
  if (paths.length === 0) return { virtualWorkspaces: [] };
  const { ViewFiles } = await import("../views/load-views.ts");
  const files = await ViewFiles.import(paths);
  if (!files.hosted) return { virtualWorkspaces: await files.views(undefined, OWN) };
  const own = loopback();
  const { upstream, identity } = own;
  const kept = stack.use(await openStore(besides(store)));
  stack.use(keepHistory(kept));
  return { virtualWorkspaces: await files.views({ upstream, identity, store: kept }, OWN), loopback: own };
}

/** Where views keep objects of their own: whose names are theirs, and must not be those of workspaces' objects. */
function besides(store: StoreChoice): StoreChoice {
  if (store.engine === "lmdb") return { ...store, dir: `${store.dir}-of-views` };
  return store.engine === "etcd" ? { ...store, prefix: `${store.prefix ?? ETCD_PREFIX}-of-views` } : store;
}
