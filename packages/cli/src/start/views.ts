import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { keepHistory } from "@virtual-workspaces/store";
import { forwardedServices, type Loopback, loopback, type ShardsOptions } from "@virtual-workspaces/workspace-server";
import { orFail } from "../process/failure.ts";
import { checked } from "../process/files.ts";
import { openStore } from "../server/open-store.ts";
import type { StoreChoice } from "../server/store-choice.ts";
import { type ForwardedTo, upstreamAt } from "../server/upstreams.ts";
import type { ViewHost } from "../views/load.ts";
import { besides, type ViewFiles } from "../views/view-files.ts";
import { storeOfShard, storeOfViews } from "./shards.ts";
import type { StartOptions } from "./start-options.ts";

/** What is below `/services`, and by what it reaches the workspaces. */
export interface Views {
  readonly virtualWorkspaces: readonly VirtualWorkspace[];
  /** Those of them that the start names: kcp's own are where their objects say. */
  readonly named: readonly VirtualWorkspace[];
  readonly loopback?: Loopback;
  /** The same at the address of each further shard, over that shard. */
  readonly ofShard?: NonNullable<ShardsOptions["virtualWorkspaces"]>;
}

/** For whom a view keeps objects, where, and for how long. */
interface Kept {
  readonly shard: string;
  readonly choice: StoreChoice;
  readonly until: AsyncDisposableStack;
}

/** Names that the server's own views have. */
const OWN: readonly string[] = ["clusters", "shard", "cache", "workspaces", "virtual-workspaces", "services"];

/**
 * kcp's own views, and those that a start names; what is opened for them is closed with `stack`. Functions are called for each shard, with its
 * workspaces, and a store of its own. What is no function knows nothing of shards, and is at the server's address alone.
 *
 * @throws Failure
 */
export async function viewsOf(options: StartOptions, stack: AsyncDisposableStack): Promise<Views> {
  const { services, store, log } = options;
  const { views: paths, forwarded } = services;
  const mapped = await mappedOf(services.mapping, log);
  const onError = (error: unknown): void =>
    log({ level: "warn", message: "virtual workspaces elsewhere cannot be had", error: String(error) });
  if (forwarded !== undefined) {
    const ofShard = (name: string): readonly VirtualWorkspace[] => [forwardedView(forwarded(name), onError)];
    return { virtualWorkspaces: await orFail(() => ofShard(ROOT_SHARD)), named: [], ofShard };
  }
  if (!services.own) return { virtualWorkspaces: mapped(), named: [], ofShard: mapped };
  const [{ kcpViews }, files] = await Promise.all([import("../views/kcp-views.ts"), filesOf(paths)]);
  const own = loopback();
  const host = async ({ upstream, identity }: Loopback, { shard, choice, until }: Kept): Promise<ViewHost> => {
    const kept = until.use(await openStore(storeOfViews(choice)));
    until.use(keepHistory(kept));
    return { upstream, identity, store: kept, shard, everywhere: own.upstream };
  };
  const hosted = files?.hosted === true;
  const ofRoot = hosted ? await host(own, { shard: ROOT_SHARD, choice: store, until: stack }) : undefined;
  const loaded = (await files?.views(ofRoot, OWN)) ?? [];
  return {
    virtualWorkspaces: [...besides(kcpViews(own, log), loaded), ...mapped()],
    named: loaded,
    loopback: own,
    ofShard: async (name, context) => {
      const kept = { shard: name, choice: storeOfShard(store, name), until: context.own };
      const ofHost = hosted ? await host(context.loopback, kept) : undefined;
      const hostedViews = (ofHost && (await files?.hostedViews(ofHost, OWN))) ?? [];
      return [...besides(kcpViews(context.loopback, log), hostedViews), ...mapped()];
    },
  };
}

/** What is behind other paths, for each address that is served. @throws UsageError */
async function mappedOf(file: string | undefined, log: Log): Promise<() => readonly VirtualWorkspace[]> {
  if (file === undefined) return () => [];
  const { mappedServices, readMapping } = await import("@virtual-workspaces/front-proxy");
  const flag = "--miniproxy-mapping-file";
  const mapping = checked(flag, () => readMapping(file));
  return () => [checked(flag, () => mappedServices({ mapping, log }))];
}

/** What `--view` names; nothing of it is loaded where that is nothing. */
async function filesOf(paths: readonly string[]): Promise<ViewFiles | undefined> {
  if (paths.length === 0) return undefined;
  const { ViewFiles } = await import("../views/view-files.ts");
  return ViewFiles.import(paths);
}

/** The view that passes everything on. @throws Error on an authority that is none */
function forwardedView(to: ForwardedTo, onError: (error: unknown) => void): VirtualWorkspace {
  return forwardedServices({ upstream: upstreamAt(to), onError });
}
