import type { SpaceProviderType } from "../../provider/provider.ts";
import { digestOf } from "../reached-server.ts";
import { type ClusterArguments, Clusters } from "./clusters.ts";

/** Options of {@link commandProvider}: a tool that manages clusters. */
export interface CommandProviderOptions {
  /** Name of the tool, such as `kind`. */
  readonly name: string;
  /** Program: a name on the PATH, or a path. @default the name */
  readonly command?: string;
  /** Environment of the tool. `KUBECONFIG` is always a temporary file, so that the tool leaves the user's own alone. @default that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Arguments that list all clusters, including those that are being created or are stopped. */
  readonly list: readonly string[];
  /** Returns the names in the printed list. Its exceptions are not shown. @default one name per line */
  readonly parse?: (printed: string) => readonly string[];
  /** Arguments that print a cluster's kubeconfig for clients on this machine. */
  readonly kubeconfig: ClusterArguments;
  /** Arguments that print a cluster's kubeconfig for the network of the management cluster. @default the same for all clients */
  readonly incluster?: ClusterArguments;
  /** Arguments that create a cluster and wait until that is done. @default clusters cannot be created */
  readonly create?: ClusterArguments;
  /** Arguments that delete a cluster, whether or not it exists. @default clusters cannot be deleted */
  readonly delete?: ClusterArguments;
  /** Maximum length of a name. @default 253 */
  readonly longestName?: number;
  /** Time limit of every command except creation, ms. @default 30000 */
  readonly within?: number;
  /** Time limit of a creation, ms. @default 600000 */
  readonly createWithin?: number;
  /** Time limit of a cluster's readiness check, ms. @default 5000 */
  readonly answerWithin?: number;
}

/**
 * Provider type for clusters of a command-line tool. It lists all clusters of the tool and reaches them by the kubeconfigs that the tool
 * prints. Security: only a kubeconfig's server and credential are used; it cannot run programs or read files. The tool is run without a
 * shell, and never with a name that it could take for a flag. Conditions show its error messages in one line.
 *
 * A cluster is created in the background and is no space before that is done. After a failure, the rest is deleted before the next attempt;
 * creations in progress are deleted when the provider is disposed of. A SpaceProviderDesc of this type needs no Secret, and of several
 * with the same tool and environment only the oldest has the clusters. Security: the tool runs with the rights of the manager's user, for
 * every user who may create Spaces.
 *
 * @throws Error on an invalid option
 */
export function commandProvider(options: CommandProviderOptions): SpaceProviderType {
  const { within = 30_000, createWithin = 600_000, answerWithin = 5_000 } = options;
  for (const [name, value] of Object.entries({ within, createWithin, answerWithin }))
    if (!(value >= 1 && value < 2 ** 31))
      throw new Error(`invalid ${name} of the provider ${options.name}: use at least 1 ms`);
  const { name, command = name, env = process.env, parse = linesOf, longestName = 253 } = options;
  if (command === "") throw new Error(`empty command of the provider ${name}: set the name or path of a program`);
  const { list, kubeconfig, incluster, create, delete: remove } = options;
  const told = { list, parse, kubeconfig, incluster, create, delete: remove, longestName };
  const limits = { within, createWithin, answerWithin };
  const place = `command ${digestOf(JSON.stringify([command, list, env]))}`;
  return {
    // A tool does not record who has created a cluster.
    place: () => place,
    open: ({ log }) => new Clusters({ name, command, env, ...told, ...limits, log }),
  };
}

const linesOf = (printed: string): readonly string[] =>
  printed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
