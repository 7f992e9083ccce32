import { join } from "node:path";
import type { SpaceProviderType } from "../../provider/provider.ts";
import { commandProvider } from "./command-provider.ts";

/** What {@link kindProvider} and {@link k3dProvider} are given. */
export interface LocalClustersOptions {
  /** The program: a name on the PATH, or a path. @default its name */
  readonly command?: string;
  /** Its environment: which Docker it uses, or with `KIND_EXPERIMENTAL_PROVIDER` which other engine. @default that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What else it is told when it makes a cluster: `["--image", "kindest/node:v1.33.1"]`. @default nothing */
  readonly createArguments?: readonly string[];
}

/**
 * Clusters in containers of this machine, made by [kind](https://kind.sigs.k8s.io), as spaces: those that are there already, too. From within its network of containers they are reached by the Secret
 * `incluster-<space>`. Nobody's own kubeconfig is touched. As {@link commandProvider}.
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

/** Clusters in containers of this machine, made by [k3d](https://k3d.io), as spaces: those that are there already, too. Nobody's own kubeconfig is touched. As {@link commandProvider}. */
export function k3dProvider({
  command = "k3d",
  env,
  createArguments = [],
}: LocalClustersOptions = {}): SpaceProviderType {
  return commandProvider({
    name: "k3d",
    command,
    longestName: 32,
    // Else what it says besides is among what it prints.
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
