import type { HubAddress } from "@virtual-workspaces/cluster-proxy";
import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { told } from "./failures.ts";
import { EVERYBODY, installExport } from "./install.ts";
import type { StartOptions } from "./options.ts";
import { besides, type Views } from "./views.ts";

/** What has remote clusters in the tree. */
export interface ClusterProxies {
  /** The views, with those of ClusterProxies and their agents; those of further shards come and go with these. */
  readonly views: Views;
  /** The server listens: other processes over the same store reach the hub of `root` there, and what the views need is written. */
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
  const hubOf = ({ upstream }: Loopback, shard: string): readonly VirtualWorkspace[] =>
    clusterProxy({ upstream, everywhere: own.upstream, shard, onError, ...(shard === ROOT_SHARD && { address }) });
  return {
    views: {
      ...views,
      virtualWorkspaces: besides(await told(() => hubOf(own, ROOT_SHARD)), views.virtualWorkspaces),
      loopback: own,
      ofShard: async (name, context) =>
        besides(hubOf(context.loopback, name), (await views.ofShard?.(name, context)) ?? []),
    },
    begin: (where) => {
      known(where);
      return installExport(own, clusterProxyManifests({ mayBind: [EVERYBODY] }));
    },
  };
}
