import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import type { HubAddress } from "@virtual-workspaces/cluster-proxy";
import { ROOT_CLUSTER, Workspace } from "@virtual-workspaces/kcp";
import { CustomResourceDefinition, type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { once } from "./once.ts";
import type { StartOptions } from "./options.ts";
import type { Views } from "./views.ts";

/** The workspace that has the Spaces, and below which the default provider makes them. */
const NAME = "spaces";
const PATH = `${ROOT_CLUSTER}:${NAME}`;
const DEFAULT = "default";

/** What has spaces in `root:spaces`. */
export interface Spaces {
  readonly views: Views;
  /** The server listens, at an address that spaces are reached by: the manager begins, and ends when that is disposed of. */
  readonly begin: (address: HubAddress) => Promise<AsyncDisposable>;
}

type Options = Pick<StartOptions, "spaces" | "log" | "mounts">;

/** A manager of spaces, where there is to be one, with a provider of workspaces below its own. */
export function spacesOf({ spaces, ...options }: Options, views: Views): Spaces {
  if (!spaces) return { views, begin: async () => new AsyncDisposableStack() };
  const own = views.loopback ?? loopback();
  return { views: { ...views, loopback: own }, begin: (address) => begun(own, address, options) };
}

async function begun(
  { upstream }: Loopback,
  { url, ca }: HubAddress,
  { log, mounts }: Omit<Options, "spaces">,
): Promise<AsyncDisposable> {
  const plugin = await import("@virtual-workspaces/spaces");
  const { SpaceManager, SpaceProviderDesc, spaceManifests, workspacesProvider } = plugin;
  const { mountedServers } = await import("@virtual-workspaces/mounts");
  await using root = new Client({ upstream, cluster: ROOT_CLUSTER });
  const type = { name: "universal", path: ROOT_CLUSTER };
  await root.resource(Workspace).apply({ metadata: { name: NAME }, spec: { type } }, { force: true });
  await once(root.resource(Workspace), NAME, ({ status }) => (status?.phase === "Ready" ? true : undefined));
  const client = new Client({ upstream, cluster: PATH });
  const kinds = client.resource(CustomResourceDefinition);
  for (const manifest of spaceManifests()) {
    const { name = "" } = (await kinds.apply(manifest as never, { force: true })).metadata;
    await once(kinds, name, (kind) => isEstablished(kind) || undefined);
  }
  const workspaces = workspacesProvider({ own: { client, url, ...(ca !== undefined && { ca }) } });
  const types = {
    workspaces,
    kubeconfigs: plugin.kubeconfigsProvider(),
    // Providers are where mounts may lead: whoever makes one chooses the address.
    rest: plugin.restProvider(mountedServers({ allow: mounts?.allow ?? [], whose: "space providers" })),
  };
  const manager = new SpaceManager({ client, types, log });
  const provider = { metadata: { name: DEFAULT }, spec: { ProviderType: "workspaces" } };
  await client.resource(SpaceProviderDesc).apply(provider, { force: true });
  return manager;
}

function isEstablished({ status }: KubeObject): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Readonly<Record<string, string>>[] };
  return conditions.some((one) => one["type"] === "Established" && one["status"] === "True");
}
