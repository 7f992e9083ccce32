import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { sleep } from "@virtual-workspaces/transport";
import { codeOf } from "./private-files.ts";
import { identityOf, isThere, markedProcess, type ProcessIdentity } from "./process-identity.ts";
import type { SpaceFolder } from "./space-folder.ts";

/** How the process of a space is started and ended. */
export interface ServerProcessOptions {
  readonly command: (folder: string) => readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long it may take to end by itself, ms. */
  readonly grace: number;
}

/** How often it is looked whether a process that is not our own has ended, ms. */
const LOOK = 25;
/** How long the system may take to end one that is killed, ms. */
const KILLED = 10_000;

/** The process of one space: ours, or one that a manager before us has started. */
export class ServerProcess {
  readonly #folder: SpaceFolder;
  readonly #options: ServerProcessOptions;
  readonly #ended: () => void;
  #child: ChildProcess | undefined;

  /** @param ended told when one that was started here has */
  constructor(folder: SpaceFolder, options: ServerProcessOptions, ended: () => void) {
    this.#folder = folder;
    this.#options = options;
    this.#ended = ended;
  }

  /** How the last one ended that was started here. */
  get end(): string {
    const { exitCode, signalCode } = this.#child ?? {};
    if (signalCode) return `its process was ended by ${signalCode}`;
    return typeof exitCode === "number" ? `its process ended with exit code ${exitCode}` : "its process has ended";
  }

  /** The process that there is. @throws Error where nobody can tell */
  async find(): Promise<ProcessIdentity | undefined> {
    const noted = this.#folder.process;
    if (noted !== "starting") return noted !== undefined && (await this.#isThere(noted)) ? noted : undefined;
    const found = markedProcess(this.#mark);
    if (found !== undefined) this.#folder.note(found);
    return found;
  }

  /** Starts one, where there is none. @throws Error that says why it cannot be started */
  async start(): Promise<void> {
    const [program, ...args] = this.#options.command(this.#folder.server);
    const [name = "", value = ""] = this.#mark.split("=");
    // Whoever finds only this asks the system who has the mark.
    this.#folder.note("starting");
    const log = this.#folder.log();
    try {
      const child = spawn(program, args, {
        cwd: this.#folder.server,
        env: { ...this.#options.env, [name]: value },
        stdio: ["ignore", log, log],
        // Of a group of its own, so that Ctrl-C is for us alone, and with it goes what it has started.
        detached: true,
      });
      const failed = Promise.withResolvers<never>();
      child.on("error", failed.reject).once("exit", this.#ended).unref();
      failed.promise.catch(() => undefined);
      this.#child = child;
      const identity = child.pid === undefined ? await failed.promise : await identityOf(child.pid);
      this.#folder.note(identity);
    } catch (error) {
      this.#folder.note(undefined);
      throw new Error(`its process cannot be started: ${codeOf(error) || String(error)}: see command of the provider`);
    } finally {
      closeSync(log);
    }
  }

  /** Ends what there is, in order, and otherwise by force. @throws Error on one that cannot be ended */
  async stop(): Promise<void> {
    const found = await this.find();
    if (found !== undefined) {
      signal(found, "SIGTERM");
      if (!(await this.#isGoneWithin(found, this.#options.grace))) {
        if (await this.#isThere(found)) signal(found, "SIGKILL");
        if (!(await this.#isGoneWithin(found, KILLED))) throw new Error(`its process ${found.pid} cannot be ended`);
      }
    }
    this.#folder.note(undefined);
  }

  /** At once, without a word: the whole of us ends. */
  kill(): void {
    const { pid } = this.#child ?? {};
    if (pid !== undefined && this.#isRunning) signal({ pid }, "SIGKILL");
  }

  /** Of our own it is known how it has ended once it is known that it has. */
  async #isThere(process: ProcessIdentity): Promise<boolean> {
    return process.pid === this.#child?.pid && this.#isRunning ? true : isThere(process);
  }

  get #isRunning(): boolean {
    const { exitCode, signalCode } = this.#child ?? {};
    return exitCode === null && signalCode === null;
  }

  async #isGoneWithin(process: ProcessIdentity, within: number): Promise<boolean> {
    const until = performance.now() + within;
    while (await this.#isThere(process)) {
      if (performance.now() >= until) return false;
      await sleep(LOOK);
    }
    return true;
  }

  get #mark(): string {
    return `VIRTUAL_WORKSPACES_SPACE=${this.#folder.id}`;
  }
}

/** To all of its group, which it leads. Who has ended meanwhile needs none. */
function signal({ pid }: Pick<ProcessIdentity, "pid">, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}
