import { resolve } from "node:path";
import type { SpaceProviderType } from "../../provider/provider.ts";
import { Processes } from "./processes.ts";

/** What {@link processesProvider} is given. */
export interface ProcessesProviderOptions {
  /** Where spaces are kept, a folder for each, with credentials in them: made for its owner alone. Who can write there decides which processes run. */
  readonly directory: string;
  /**
   * The program that serves what is in a folder, with its arguments; no shell has a say. It is run in the folder, which is there for it alone and stays what it was when it is run again, and
   * writes a kubeconfig into it once it can be reached.
   */
  readonly command: (folder: string) => readonly [program: string, ...args: string[]];
  /** Its environment. @default that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Which file below its folder is the kubeconfig of its administrator. Nothing in it is run, and no file that it names is read. @default "admin.kubeconfig" */
  readonly kubeconfig?: string;
  /** How many spaces there may be: whoever may make Spaces starts processes. @default 16 */
  readonly most?: number;
  /**
   * Whether processes go on when the provider is disposed of, for the next one to find: so a manager can be replaced. Where nobody comes after, set it to `false`: then they end with it, and are started
   * again by the next. Whoever is killed leaves them running in any case. @default true
   */
  readonly keep?: boolean;
  /** How often each is looked after, ms. @default 2000 */
  readonly checkEvery?: number;
  /** How long a server may take to answer whether it is ready, ms. @default 5000 */
  readonly answerWithin?: number;
  /** How long a process may take to end when it is asked to, before it is killed, ms. @default 10000 */
  readonly grace?: number;
}

/**
 * Processes of this machine as spaces: each is a server of its own, with its own data, where a cluster would be one. One that has ended is started again on the same data. A SpaceProviderDesc of it needs no
 * Secret, and all of a manager show the same. Needs `/proc` or `ps`, by which processes are told apart: none is ever signalled that has only got the number of another.
 *
 * Several managers may share a folder: what is in it decides, one of them starts and ends processes, and the others see them; when that one ends, or is killed, another takes its place, and finds what runs.
 *
 * Whoever has the Secret of a space has what its kubeconfig says for the current context, its administrator's access as a rule, and nothing anywhere else. The processes have the rights of whoever runs the manager.
 *
 * @throws Error on an option that cannot be used
 */
export function processesProvider(options: ProcessesProviderOptions): SpaceProviderType {
  const { most = 16, checkEvery = 2_000, answerWithin = 5_000, grace = 10_000 } = options;
  const { directory, command, env = process.env, kubeconfig = "admin.kubeconfig", keep = true } = options;
  for (const [name, value] of Object.entries({ checkEvery, answerWithin, grace }))
    if (!(value >= 1 && value < 2 ** 31))
      throw new Error(`${name} of processesProvider: give milliseconds, 1 at least`);
  if (!(Number.isSafeInteger(most) && most >= 1))
    throw new Error("most of processesProvider: give a number, 1 at least");
  if (directory === "") throw new Error("directory of processesProvider: name a folder");
  const common = { command, env, kubeconfig, most, keep, checkEvery, answerWithin, grace };
  return { open: ({ log }) => new Processes({ ...common, directory: resolve(directory), log }) };
}
