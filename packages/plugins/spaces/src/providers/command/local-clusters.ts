import { join } from "node:path";
import type { SpaceProviderType } from "../../provider/provider.ts";
import { commandProvider } from "./command-provider.ts";

/** Options of {@link kindProvider} and {@link k3dProvider}. */
export interface LocalClustersOptions {
  /** Program: a name on the PATH, or a path. @default the name of the tool */
  readonly command?: string;
  /** Environment, which selects the Docker daemon, or another engine with `KIND_EXPERIMENTAL_PROVIDER`. @default that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Additional arguments of a creation: `["--image", "kindest/node:v1.33.1"]`. @default none */
  readonly createArguments?: readonly string[];
}

/**
 * Provider type for the clusters of [kind](https://kind.sigs.k8s.io) on this machine, including existing ones. The Secret
 * `incluster-<space>` reaches them from their container network. The user's own kubeconfig stays unchanged. See {@link commandProvider}.
 */
export function kindProvider({
  command = "kind",
  env,
  createArguments = [],
}: LocalClustersOptions = {}): SpaceProviderType {
  const kubeconfig = (folder: string): string => join(folder, "kubeconfig");
  return commandProvider({
    name: "kind",
    command,
    ...(env && { env }),
    longestName: 50,
    list: ["get", "clusters"],
    kubeconfig: (name) => ["get", "kubeconfig", "--name", name],
    incluster: (name) => ["get", "kubeconfig", "--name", name, "--internal"],
    create: (name, folder) => [
      "create",
      "cluster",
      "--name",
      name,
      "--kubeconfig",
      kubeconfig(folder),
      ...createArguments,
    ],
    delete: (name, folder) => ["delete", "cluster", "--name", name, "--kubeconfig", kubeconfig(folder)],
  });
}

/** Provider type for the clusters of [k3d](https://k3d.io) on this machine, including existing ones. The user's kubeconfig is unchanged. See {@link commandProvider}. */
export function k3dProvider({
  command = "k3d",
  env,
  createArguments = [],
}: LocalClustersOptions = {}): SpaceProviderType {
  return commandProvider({
    name: "k3d",
    command,
    longestName: 32,
    // Otherwise k3d mixes log lines into its output.
    env: { ...(env ?? process.env), LOG_LEVEL: "warn", LOG_COLORS: "false" },
    list: ["cluster", "list", "-o", "json"],
    parse: (printed) => (JSON.parse(printed) as readonly { readonly name: string }[]).map(({ name }) => name),
    kubeconfig: (name) => ["kubeconfig", "get", name],
    create: (name) => [
      "cluster",
      "create",
      name,
      "--kubeconfig-update-default=false",
      "--kubeconfig-switch-context=false",
      "--wait",
      ...createArguments,
    ],
    delete: (name) => ["cluster", "delete", name],
  });
}
