// Providers of processes over one directory, with workspace servers as processes. All of them end with the test.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve as resolvePath } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Client } from "@virtual-workspaces/client";
import {
  type PhysicalSpace,
  type ProcessesProviderOptions,
  processesProvider,
  type SpaceProvider,
} from "@virtual-workspaces/spaces";
import { localNode } from "../../../../tools/install.mjs";
import { type Tree, tree } from "../../../_setup/tree.ts";
import { until } from "../../../_support/until.ts";
import { serverIn } from "./server-in.ts";

type Provider = SpaceProvider & Partial<AsyncDisposable>;

/** A program that serves nothing. */
export const idleIn = (folder: string): readonly [string, ...string[]] => [
  localNode,
  "-e",
  "setInterval(() => undefined, 1e6)",
  folder,
];

/** Short intervals, since changes without an event are found by polling. */
const QUICK = { checkEvery: 50, answerWithin: 2_000, grace: 2_000 } as const;

/** Default arguments of a provider's call. */
export const CALL = { parent: undefined, signal: new AbortController().signal } as const;

export class ProcessSpaces implements AsyncDisposable {
  readonly folder: Tree = tree({});
  readonly logged: string[] = [];
  /** Directories of the started processes in order. */
  readonly started: string[] = [];
  #starts: () => void = () => undefined;
  readonly #stack = new AsyncDisposableStack();

  /** Directory of all providers. */
  get root(): string {
    return join(this.folder.path, "spaces");
  }

  /** Directory of the provider `here`. */
  get directory(): string {
    return join(this.root, "here");
  }

  options(options: Partial<ProcessesProviderOptions> = {}): ProcessesProviderOptions {
    const { command = serverIn, ...rest } = options;
    return {
      directory: this.root,
      ...QUICK,
      ...rest,
      command: (folder) => {
        this.started.push(folder);
        this.#starts();
        return command(folder);
      },
    };
  }

  /** Opens another provider over the directory. */
  async open(options: Partial<ProcessesProviderOptions> = {}, name = "here"): Promise<Opened> {
    return this.#stack.use(await this.#open(options, name));
  }

  async #open(options: Partial<ProcessesProviderOptions>, name = "here"): Promise<Opened> {
    const log = ({ message, error }: { message: string; error?: unknown }): void =>
      void this.logged.push(`${message} ${error ?? ""}`);
    const provider = await processesProvider(this.options(options)).open({
      name,
      secret: {},
      log,
      signal: new AbortController().signal,
    });
    return new Opened(provider);
  }

  /** Waits until processes of a space were started that many times. */
  async startedTimes(name: string, times: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#starts = () => {
      const server = resolvePath(this.directory, name, "server");
      if (this.started.filter((folder) => folder === server).length >= times) resolve();
    };
    this.#starts();
    await promise;
  }

  path(...names: readonly string[]): string {
    return join(this.directory, ...names);
  }

  has(...names: readonly string[]): boolean {
    return existsSync(this.path(...names));
  }

  /** Returns the recorded PID of a space. */
  pid(name: string): number {
    return JSON.parse(readFileSync(this.path(name, "process.json"), "utf8")).pid;
  }

  signal(name: string, signal: NodeJS.Signals): void {
    process.kill(this.pid(name), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    using _ = this.folder;
    // Ends all processes that the test has left running.
    for (const provider of existsSync(this.root) ? readdirSync(this.root) : []) {
      await using last = await this.#open({ keep: false }, provider);
      for (const { name } of await last.list()) await last.delete(name);
    }
  }
}

/** Returns the processes that serve a directory. */
export function servingIn(folder: string): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => argumentsOf(pid).some((one) => one.includes(folder)) && isRunning(pid));
}

function argumentsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** Waits until a process has ended, even as a zombie. */
export async function gone(pid: number): Promise<void> {
  await until(() => !isRunning(pid));
}

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** A provider that is called as a manager would. */
export class Opened implements AsyncDisposable {
  readonly provider: Provider;
  #isOver = false;

  constructor(provider: Provider) {
    this.provider = provider;
  }

  async list(): Promise<readonly PhysicalSpace[]> {
    return this.provider.list(CALL);
  }

  get(name: string): Promise<PhysicalSpace | undefined> {
    return this.provider.get(name, CALL);
  }

  async create(name: string): Promise<void> {
    await this.provider.create?.(name, CALL);
  }

  async delete(name: string): Promise<void> {
    await this.provider.delete?.(name, CALL);
  }

  /** Waits until a space meets a condition; reads it after each change. */
  async until(name: string, is: (space: PhysicalSpace | undefined) => boolean): Promise<PhysicalSpace | undefined> {
    if (this.provider.watch === undefined)
      for (; ; await nextTurn()) {
        const space = await this.get(name);
        if (is(space)) return space;
      }
    const over = new AbortController();
    const changes = this.provider.watch({ parent: undefined, signal: over.signal });
    try {
      const first = await this.get(name);
      if (is(first)) return first;
      for await (const change of changes) {
        if (change.name !== name) continue;
        const space = await this.get(name);
        if (is(space)) return space;
      }
    } finally {
      over.abort();
    }
    throw new Error(`nothing more is said of ${name}`);
  }

  ready(name: string): Promise<PhysicalSpace | undefined> {
    return this.until(name, (space) => space?.phase === "Ready");
  }

  /** Returns a client from the access of a space. The caller closes it. */
  async client(name: string): Promise<Client> {
    const { external = "" } = await this.provider.access(name, CALL);
    return Client.fromKubeconfig({ contents: [{ file: name, content: JSON.parse(external) }] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.provider[Symbol.asyncDispose]?.();
  }
}
