import { join, resolve } from "node:path";
import type { SpaceProviderType } from "../../provider/provider.ts";
import { Processes } from "./processes.ts";
import { checkName } from "./space-folder.ts";

/** Options of {@link processesProvider}. */
export interface ProcessesProviderOptions {
  /**
   * Directory of the providers, with one subdirectory for each SpaceProviderDesc, by its name, and in it one for each of its spaces. It is
   * created with access for its owner only, since it contains credentials.
   * Security: users who can write to it choose which programs run.
   */
  readonly directory: string;
  /**
   * Returns the program and arguments that serve a space's directory, run without a shell and with that directory as the working directory.
   * The directory is the program's own and survives restarts. The program writes a kubeconfig into it once the server is reachable.
   */
  readonly command: (folder: string) => readonly [program: string, ...args: string[]];
  /** Environment of the program. @default that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Path of the administrator's kubeconfig below the directory. Security: the kubeconfig cannot run programs or read files.
   * @default "admin.kubeconfig"
   */
  readonly kubeconfig?: string;
  /** Maximum number of spaces of all SpaceProviderDescs. Security: users who may create Spaces start processes. @default 16 */
  readonly most?: number;
  /**
   * Whether processes keep running after the provider is disposed of, so that the next manager adopts them. With `false` they stop with the
   * provider, and the next one restarts them. After a crash they keep running in any case.
   * @default true
   */
  readonly keep?: boolean;
  /** Interval between checks of a process, ms. @default 2000 */
  readonly checkEvery?: number;
  /** Time limit of a server's readiness check, ms. @default 5000 */
  readonly answerWithin?: number;
  /** Grace period between SIGTERM and SIGKILL, ms. @default 10000 */
  readonly grace?: number;
}

/**
 * Provider type for processes on this machine: each is an API server with its own data, in place of a cluster. A process that ends is
 * restarted on the same data. A SpaceProviderDesc of this type needs no Secret. Each has its own spaces, and finds them again when it is
 * deleted and created under the same name. The provider needs `/proc` or `ps` to identify processes, so that it never signals another
 * process with a reused PID.
 *
 * Several managers with the same SpaceProviderDescs may share a directory, whose files are the only state. One of them starts and stops
 * processes and the others read. When it ends or crashes, another takes over and adopts the running processes.
 *
 * Security: the Secret of a space grants what the current context of its kubeconfig grants, usually administration of that space, and
 * nothing elsewhere. The processes run with the rights of the manager's user.
 *
 * @throws Error on an invalid option
 */
export function processesProvider(options: ProcessesProviderOptions): SpaceProviderType {
  const { most = 16, checkEvery = 2_000, answerWithin = 5_000, grace = 10_000 } = options;
  const { directory, command, env = process.env, kubeconfig = "admin.kubeconfig", keep = true } = options;
  for (const [name, value] of Object.entries({ checkEvery, answerWithin, grace }))
    if (!(value >= 1 && value < 2 ** 31)) throw new Error(`invalid ${name} of processesProvider: use at least 1 ms`);
  if (!(Number.isSafeInteger(most) && most >= 1))
    throw new Error("invalid most of processesProvider: use a number of at least 1");
  if (directory === "") throw new Error("empty directory of processesProvider: set the path of a directory");
  const common = { command, env, kubeconfig, most, keep, checkEvery, answerWithin, grace };
  const root = resolve(directory);
  return {
    open: ({ name, log }) => {
      checkName(name);
      return new Processes({ ...common, root, directory: join(root, name), log });
    },
  };
}
