import { Client } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { ROOT_CLUSTER, Workspace } from "@virtual-workspaces/kcp";
import { mountedServers } from "@virtual-workspaces/mounts";
import * as plugin from "@virtual-workspaces/spaces";
import { applyManifests, type FeatureShard } from "@virtual-workspaces/workspace-server";
import { orFail } from "../../process/failure.ts";
import { waitForObject } from "../../server/objects.ts";

const DEFAULT = "default";

/** Workspace of the Spaces, connection rules for addresses that users choose, and callbacks. */
export interface SpacesSettings {
  /** Name of the workspace below `root` with the Spaces. */
  readonly workspace: string;
  /** Restricted hosts that imported Spaces and space providers may use. */
  readonly allow: readonly string[];
  readonly onError: (failure: plugin.SpaceFailure) => void;
  /** Receives the Spaces, once they are watched. */
  readonly followed: (spaces: plugin.Spaces) => void;
}

/** Returns a client of the workspace with the Spaces. */
export function spacesClient({ upstream }: FeatureShard, workspace: string): Client {
  return new Client({ upstream, cluster: `${ROOT_CLUSTER}:${workspace}` });
}

/** Creates the workspace if necessary, then manages and watches its Spaces until the result is disposed. */
export async function runSpaces(
  shard: FeatureShard,
  { workspace, allow, onError, followed }: SpacesSettings,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const client = spacesClient(shard, workspace);
  await makeWorkspace(shard, workspace);
  await applyManifests(client, plugin.spaceManifests());
  const types = await typesOf(client, shard, allow);
  // Security: users choose the address of imported Spaces, so the dial rules of mounts apply to it.
  const imported = await orFail(() => mountedServers({ allow, whose: "imported Spaces" }));
  const dial = ({ spec }: plugin.Space) => (spec.Type === "imported" ? imported.dial : undefined);
  stack.use(new plugin.SpaceManager({ client, types, dial, log: shard.log }));
  const provider = { metadata: { name: DEFAULT }, spec: { ProviderType: "workspaces" } };
  await client.resource(plugin.SpaceProviderDesc).apply(provider, { force: true });
  const followSpaces = plugin.followSpaces({ client, dial, onError });
  followed(stack.use(await followSpaces));
  return stack.move();
}

async function makeWorkspace({ upstream }: FeatureShard, name: string): Promise<void> {
  await using root = new Client({ upstream, cluster: ROOT_CLUSTER });
  const type = { name: "universal", path: ROOT_CLUSTER };
  const workspaces = root.resource(Workspace);
  // Each apply needs the compiled schema of its kind, with all rules: on most starts for nothing.
  const there = await workspaces.get(name).catch(onCode(404, () => undefined));
  if (there === undefined) await workspaces.apply({ metadata: { name }, spec: { type } }, { force: true });
  await waitForObject(workspaces, name, ({ status }) => (status?.phase === "Ready" ? true : undefined));
}

/** Returns the provider types that SpaceProviderDescs may name. */
async function typesOf(
  client: Client,
  { address, ca, directory }: FeatureShard,
  allow: readonly string[],
): Promise<Readonly<Record<string, plugin.SpaceProviderType>>> {
  const { baseURL: url } = await address;
  return {
    workspaces: plugin.workspacesProvider({ own: { client, url, ca } }),
    kubeconfigs: plugin.kubeconfigsProvider(),
    // Security: users choose the address of providers, so the dial rules of mounts apply to it.
    kind: plugin.kindProvider(),
    k3d: plugin.k3dProvider(),
    // They end with this process; the next one starts them again with their data.
    processes: plugin.processesProvider({ directory, command: anotherOfThis, keep: false }),
    rest: plugin.restProvider(mountedServers({ allow, whose: "space providers" })),
  };
}

/** Returns the command of the same program with its own folder, on the loopback interface. */
function anotherOfThis(folder: string): [string, ...string[]] {
  const at = ["--bind-address=127.0.0.1", "--secure-port=0", "--experimental-bind-free-port", "--keep-kubeconfig"];
  return [process.execPath, ...process.execArgv, process.argv[1] ?? "", "start", `--root-directory=${folder}`, ...at];
}
