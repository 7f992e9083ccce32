import type { SpaceProviderType } from "../../provider/provider.ts";
import { type ClusterArguments, Clusters } from "./clusters.ts";

/** A tool that has clusters, for {@link commandProvider}. */
export interface CommandProviderOptions {
  /** What it is called: `kind`. */
  readonly name: string;
  /** The program: a name on the PATH, or a path. @default its name */
  readonly command?: string;
  /** Its environment. `KUBECONFIG` is always a file that is thrown away, so that nobody's own is read or written. @default that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What it is told for a list of its clusters: those that are being made or stand still, too. */
  readonly list: readonly string[];
  /** The names in what it has printed then. What it throws is not told. @default a name on each line */
  readonly parse?: (printed: string) => readonly string[];
  /** What it is told to print the kubeconfig of a cluster, as it is reached from this machine. */
  readonly kubeconfig: ClusterArguments;
  /** The same, as it is reached from where the management cluster is. @default the same for all */
  readonly incluster?: ClusterArguments;
  /** What it is told to make one, and to end when that is made. @default none can be made */
  readonly create?: ClusterArguments;
  /** What it is told to delete one, whether or not there is one. @default none can be deleted */
  readonly delete?: ClusterArguments;
  /** The longest name that it takes. @default 253 */
  readonly longestName?: number;
  /** How long it may take for anything but making a cluster, ms. @default 30000 */
  readonly within?: number;
  /** How long it may take to make one, ms. @default 600000 */
  readonly createWithin?: number;
  /** How long a cluster may take to answer whether it is ready, ms. @default 5000 */
  readonly answerWithin?: number;
}

/**
 * Clusters that a tool of the command line makes, as spaces. They are listed by it, whoever has made them, and reached by what it prints. What is in a kubeconfig counts only where it leads to a server and shows a
 * credential: nothing in it is run, and no file that it names is read. The tool gets its arguments as they are, by no shell, and no name that it could take for a flag; its complaints are told in conditions, in one line.
 *
 * A cluster is made in the background; until that is done it is no space, and where it fails what is left of it is deleted before it is made again. What is being made when the provider is disposed of is deleted.
 * A SpaceProviderDesc of it needs no Secret. The tool has the rights of whoever runs the manager, and whoever may make Spaces has it make clusters.
 *
 * @throws Error on an option that cannot be used
 */
export function commandProvider(options: CommandProviderOptions): SpaceProviderType {
  const { within = 30_000, createWithin = 600_000, answerWithin = 5_000 } = options;
  for (const [name, value] of Object.entries({ within, createWithin, answerWithin }))
    if (!(value >= 1 && value < 2 ** 31))
      throw new Error(`${name} of the provider ${options.name}: give milliseconds, 1 at least`);
  const { name, command = name, env = process.env, parse = linesOf, longestName = 253 } = options;
  if (command === "") throw new Error(`command of the provider ${name}: name a program`);
  const { list, kubeconfig, incluster, create, delete: remove } = options;
  const told = { list, parse, kubeconfig, incluster, create, delete: remove, longestName };
  const limits = { within, createWithin, answerWithin };
  return { open: ({ log }) => new Clusters({ name, command, env, ...told, ...limits, log }) };
}

const linesOf = (printed: string): readonly string[] =>
  printed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
