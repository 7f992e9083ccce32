import type { HubAddress } from "@virtual-workspaces/cluster-proxy";
import type { FeatureShard, WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";
import type { FlagSet } from "../../flags/table.ts";
import { orFail } from "../../process/failure.ts";
import { AUTHENTICATED } from "../../server/objects.ts";
import { urlOf } from "../../server/urls.ts";

const FLAGS = {
  "cluster-proxy-hub-url": {
    type: "text",
    value: "url",
    otherwise: "https://<host>:<port>",
    help: "URL at which other hubs and agents reach this process itself.",
  },
} as const satisfies FlagSet;

/** Remote clusters in the tree: a hub for each shard of the process, and the kind ClusterProxy. */
export const clusterProxy: WorkspaceServerFeature<typeof FLAGS> = {
  name: "cluster-proxy",
  heading: "Cluster proxies",
  flags: FLAGS,
  read({ values }) {
    const hub = urlOf(values, "cluster-proxy-hub-url");
    return {
      begins: "after-ready",
      listed: false,
      hosts: hub === undefined ? [] : [new URL(hub).hostname.replace(/^\[|\]$/g, "")],
      views: async (shard) => {
        const { upstream, everywhere, log } = shard;
        const onError = (error: unknown): void =>
          log({ level: "warn", message: "error of the cluster proxies", error: String(error) });
        const { clusterProxy } = await load();
        const address = addressOf(shard, hub);
        return orFail(() => clusterProxy({ upstream, everywhere, shard: shard.shard, onError, address }));
      },
      manifests: async () => (await load()).clusterProxyManifests({ mayBind: [AUTHENTICATED] }),
    };
  },
};

/** Imported only with the feature, so that other starts are faster. */
function load(): Promise<typeof import("@virtual-workspaces/cluster-proxy")> {
  return import("@virtual-workspaces/cluster-proxy");
}

/** Returns the address of a shard's hub. Further shards have their own ports of this process. */
async function addressOf({ isRoot, address, ca }: FeatureShard, hub: string | undefined): Promise<HubAddress> {
  const { processURL } = await address;
  if (hub === undefined) return { url: processURL, ca };
  if (isRoot) return { url: hub, ca };
  const url = new URL(hub);
  url.port = new URL(processURL).port;
  return { url: url.origin, ca };
}
