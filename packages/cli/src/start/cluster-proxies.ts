import type { HubAddress } from "@virtual-workspaces/cluster-proxy";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Listening } from "@virtual-workspaces/framework/server";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { orFail } from "../process/failure.ts";
import { AUTHENTICATED, applyInRoot } from "../server/objects.ts";
import { besides } from "../views/view-files.ts";
import type { StartOptions } from "./start-options.ts";
import type { Views } from "./views.ts";

/** What has remote clusters in the tree. */
export interface ClusterProxies {
  /** The views, with those of ClusterProxies and their agents; those of further shards come and go with these. */
  readonly views: Views;
  /** The server listens: other processes over the same store reach the hub of `root` there, and those of further shards where these are, and what the views need is written. */
  readonly begin: (address: HubAddress) => Promise<void>;
}

/** A hub for each shard of the process, where there is to be one. */
export async function clusterProxiesOf(
  { clusterProxies, log }: Pick<StartOptions, "clusterProxies" | "log">,
  views: Views,
): Promise<ClusterProxies> {
  if (!clusterProxies) return { views, begin: async () => undefined };
  const { clusterProxy, clusterProxyManifests } = await import("@virtual-workspaces/cluster-proxy");
  const own = views.loopback ?? loopback();
  const onError = (error: unknown): void =>
    log({ level: "warn", message: "cluster proxies lack something", error: String(error) });
  const { promise: address, resolve: known } = Promise.withResolvers<HubAddress>();
  const hubOf = ({ upstream }: Loopback, shard: string, where: Promise<HubAddress>): readonly VirtualWorkspace[] =>
    clusterProxy({ upstream, everywhere: own.upstream, shard, onError, address: where });
  const addressOf = async (listening: Promise<Listening>): Promise<HubAddress> => {
    const [{ port }, { url, ...rest }] = await Promise.all([listening, address]);
    return { ...rest, url: withPort(url, port) };
  };
  return {
    views: {
      ...views,
      virtualWorkspaces: besides(await orFail(() => hubOf(own, ROOT_SHARD, address)), views.virtualWorkspaces),
      loopback: own,
      ofShard: async (name, context) =>
        besides(
          hubOf(context.loopback, name, addressOf(context.listening)),
          (await views.ofShard?.(name, context)) ?? [],
        ),
    },
    begin: (where) => {
      known(where);
      return applyInRoot(own, clusterProxyManifests({ mayBind: [AUTHENTICATED] }));
    },
  };
}

/** A further shard is where the process is, at a port of its own. */
function withPort(url: string, port: number): string {
  const of = new URL(url);
  of.port = String(port);
  return of.origin;
}
