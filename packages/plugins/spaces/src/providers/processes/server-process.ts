import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { sleep } from "@virtual-workspaces/transport";
import { codeOf } from "./private-files.ts";
import { identityOf, isThere, markedProcess, type ProcessIdentity } from "./process-identity.ts";
import type { SpaceFolder } from "./space-folder.ts";

/** Options of {@link ServerProcess}. */
export interface ServerProcessOptions {
  readonly command: (folder: string) => readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Grace period before SIGKILL, ms. */
  readonly grace: number;
}

/** Poll interval for the end of a process that is not our child, ms. */
const LOOK = 25;
/** Time limit for the system to end a killed process, ms. */
const KILLED = 10_000;

/** Process of one space, started by this manager or an earlier one. */
export class ServerProcess {
  readonly #folder: SpaceFolder;
  readonly #options: ServerProcessOptions;
  readonly #ended: () => void;
  #child: ChildProcess | undefined;

  /** @param ended called when a process that this object started has ended */
  constructor(folder: SpaceFolder, options: ServerProcessOptions, ended: () => void) {
    this.#folder = folder;
    this.#options = options;
    this.#ended = ended;
  }

  /** Describes how the last process that this object started has ended. */
  get end(): string {
    const { exitCode, signalCode } = this.#child ?? {};
    if (signalCode) return `the process was ended by ${signalCode}`;
    return typeof exitCode === "number" ? `the process ended with exit code ${exitCode}` : "the process has ended";
  }

  /** Finds the running process. @throws Error without `/proc` and `ps` */
  async find(): Promise<ProcessIdentity | undefined> {
    const noted = this.#folder.process;
    if (noted !== "starting") return noted !== undefined && (await this.#isThere(noted)) ? noted : undefined;
    const found = markedProcess(this.#mark);
    if (found !== undefined) this.#folder.note(found);
    return found;
  }

  /** Starts a process if there is none. @throws Error that gives the reason of a failure */
  async start(): Promise<void> {
    const [program, ...args] = this.#options.command(this.#folder.server);
    const [name = "", value = ""] = this.#mark.split("=");
    // After a crash at this point, the next manager finds the process by its mark.
    this.#folder.note("starting");
    const log = this.#folder.log();
    try {
      const child = spawn(program, args, {
        cwd: this.#folder.server,
        env: { ...this.#options.env, [name]: value },
        stdio: ["ignore", log, log],
        // The process leads a group of its own, so that Ctrl-C does not reach it and a signal reaches its child processes.
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
      throw new Error(`cannot start the process: ${codeOf(error) || String(error)}: check command of the provider`);
    } finally {
      closeSync(log);
    }
  }

  /** Stops the process gracefully, then by SIGKILL. @throws Error if it does not end */
  async stop(): Promise<void> {
    const found = await this.find();
    if (found !== undefined) {
      signal(found, "SIGTERM");
      if (!(await this.#isGoneWithin(found, this.#options.grace))) {
        if (await this.#isThere(found)) signal(found, "SIGKILL");
        if (!(await this.#isGoneWithin(found, KILLED)))
          throw new Error(`process ${found.pid} did not end after SIGKILL`);
      }
    }
    this.#folder.note(undefined);
  }

  /** Sends SIGKILL without a grace period. */
  kill(): void {
    const { pid } = this.#child ?? {};
    if (pid !== undefined && this.#isRunning) signal({ pid }, "SIGKILL");
  }

  /** The exit of a child process is known once its event has arrived. */
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

/** Signals the group of the process, and ignores one that has ended. */
function signal({ pid }: Pick<ProcessIdentity, "pid">, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}
