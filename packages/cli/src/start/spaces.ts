import { join } from "node:path";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import type { HubAddress } from "@virtual-workspaces/cluster-proxy";
import { ROOT_CLUSTER, Workspace } from "@virtual-workspaces/kcp";
import type { Spaces as FollowedSpaces, SpaceFailure } from "@virtual-workspaces/spaces";
import { CustomResourceDefinition, type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { orFail } from "../process/failure.ts";
import { waitForObject } from "../server/objects.ts";
import { besides } from "../views/view-files.ts";
import type { StartOptions } from "./start-options.ts";
import type { Views } from "./views.ts";

/** The workspace that has the Spaces, and below which the default provider makes them. */
const NAME = "spaces";
/** Its path. */
export const SPACES: string = `${ROOT_CLUSTER}:${NAME}`;
const DEFAULT = "default";

/** What has spaces in `root:spaces`. */
export interface Spaces {
  readonly views: Views;
  /** The server listens, at an address that spaces are reached by: the manager begins, and ends when that is disposed of. */
  readonly begin: (address: HubAddress) => Promise<AsyncDisposable>;
}

type Options = Pick<StartOptions, "spaces" | "mounts" | "rootDirectory" | "log">;

/** A manager of spaces, where there is to be one, with a provider of workspaces below its own, and the view of them. */
export async function spacesOf({ spaces, mounts, rootDirectory, log }: Options, views: Views): Promise<Spaces> {
  if (!spaces) return { views, begin: async () => new AsyncDisposableStack() };
  const { spacesView } = await import("@virtual-workspaces/spaces");
  const own = views.loopback ?? loopback();
  const client = new Client({ upstream: own.upstream, cluster: SPACES });
  const { promise: followed, resolve } = Promise.withResolvers<FollowedSpaces>();
  const onError = ({ space, error }: SpaceFailure): void =>
    log({ level: "warn", message: "a space cannot be served", ...(space && { space }), error: String(error) });
  const view = spacesView({ spaces: followed, reviews: client, onError });
  return {
    views: {
      ...views,
      loopback: own,
      virtualWorkspaces: besides([view], views.virtualWorkspaces),
      named: [view, ...views.named],
    },
    begin: async (address) => {
      const stack = new AsyncDisposableStack();
      const allow = mounts?.allow ?? [];
      stack.use(await begun(client, { own, address, allow, directory: join(rootDirectory, NAME), log }));
      resolve(stack.use(await followedIn(client, { allow, onError })));
      return stack;
    },
  };
}

/** Spaces that somebody has imported lead wherever they say: not into this machine, nor its network, unless mounts may as well. */
async function followedIn(
  client: Client,
  { allow, onError }: { readonly allow: readonly string[]; readonly onError: (failure: SpaceFailure) => void },
): Promise<FollowedSpaces> {
  const [{ followSpaces }, { mountedServers }] = await plugins();
  const { dial } = await orFail(() => mountedServers({ allow, whose: "imported Spaces" }));
  return followSpaces({ client, dial: ({ spec }) => (spec.Type === "imported" ? dial : undefined), onError });
}

interface Beginning {
  readonly own: Loopback;
  readonly address: HubAddress;
  readonly allow: readonly string[];
  /** Where spaces that are processes are kept. */
  readonly directory: string;
  readonly log: StartOptions["log"];
}

async function begun(
  client: Client,
  { own: { upstream }, address: { url, ca }, allow, directory, log }: Beginning,
): Promise<AsyncDisposable> {
  const [plugin, { mountedServers }] = await plugins();
  const { SpaceManager, SpaceProviderDesc, spaceManifests, workspacesProvider } = plugin;
  await using root = new Client({ upstream, cluster: ROOT_CLUSTER });
  const type = { name: "universal", path: ROOT_CLUSTER };
  await root.resource(Workspace).apply({ metadata: { name: NAME }, spec: { type } }, { force: true });
  await waitForObject(root.resource(Workspace), NAME, ({ status }) => (status?.phase === "Ready" ? true : undefined));
  const kinds = client.resource(CustomResourceDefinition);
  for (const manifest of spaceManifests()) {
    const { name = "" } = (await kinds.apply(manifest as never, { force: true })).metadata;
    await waitForObject(kinds, name, (kind) => isEstablished(kind) || undefined);
  }
  const workspaces = workspacesProvider({ own: { client, url, ...(ca !== undefined && { ca }) } });
  const types = {
    workspaces,
    kubeconfigs: plugin.kubeconfigsProvider(),
    // Providers are where mounts may lead: whoever makes one chooses the address.
    kind: plugin.kindProvider(),
    k3d: plugin.k3dProvider(),
    // They end with this process, and are started again on their data by the next.
    processes: plugin.processesProvider({ directory, command: anotherOfThis, keep: false }),
    rest: plugin.restProvider(mountedServers({ allow, whose: "space providers" })),
  };
  const manager = new SpaceManager({ client, types, log });
  const provider = { metadata: { name: DEFAULT }, spec: { ProviderType: "workspaces" } };
  await client.resource(SpaceProviderDesc).apply(provider, { force: true });
  return manager;
}

/** Who does without starts without them. */
const plugins = () => Promise.all([import("@virtual-workspaces/spaces"), import("@virtual-workspaces/mounts")]);

/** The same program, over a folder of its own, for this machine alone. */
function anotherOfThis(folder: string): [string, ...string[]] {
  const at = ["--bind-address=127.0.0.1", "--secure-port=0", "--experimental-bind-free-port"];
  return [process.execPath, ...process.execArgv, process.argv[1] ?? "", "start", `--root-directory=${folder}`, ...at];
}

function isEstablished({ status }: KubeObject): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Readonly<Record<string, string>>[] };
  return conditions.some((one) => one["type"] === "Established" && one["status"] === "True");
}
