import type { Log } from "@virtual-workspaces/framework/server";
import { SecretFault } from "@virtual-workspaces/kcp/targets";
import { Backoff, sleep, untilAborted } from "@virtual-workspaces/transport";
import { type PhysicalSpace, sameSpace } from "../../provider/provider.ts";
import { ReachedServer } from "../reached-server.ts";
import { ServerProcess, type ServerProcessOptions } from "./server-process.ts";
import type { SpaceFolder } from "./space-folder.ts";

/** Options of {@link SpaceProcess}. */
export interface SpaceProcessOptions extends ServerProcessOptions {
  /** Path below the server's directory. */
  readonly kubeconfig: string;
  /** Interval between checks, ms. */
  readonly checkEvery: number;
  /** Time limit of the server's readiness check, ms. */
  readonly answerWithin: number;
  /** Whether this manager owns the directory and may start and stop the process. */
  readonly isOurs: () => boolean;
  readonly onChange: () => void;
  readonly log: Log;
}

/** Interval between checks of a starting process, ms. */
const SOON = 100;
/** Duration for which a process counts as starting, ms. */
const STARTING = 60_000;
/** Backoff between restarts of an ended process, ms. */
const BACKOFF = { first: 250, most: 30_000 } as const;
/** Duration of readiness after which the backoff is reset, ms. */
const STEADY = 10_000;

/** Reconciler of a space that is a process. It acts on the current state and not on events, so that another manager can continue after a crash. */
export class SpaceProcess implements AsyncDisposable {
  readonly folder: SpaceFolder;
  readonly #options: SpaceProcessOptions;
  readonly #process: ServerProcess;
  readonly #over = new AbortController();
  readonly #backoff = new Backoff(BACKOFF);
  readonly #running: Promise<void>;
  #state: PhysicalSpace;
  #server: ReachedServer | undefined;
  /** Text of the kubeconfig that the connection was made from. */
  #text: string | undefined;
  #isThere = false;
  /** Description of the last exit, until the process is ready again. */
  #fall: string | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #readySince: number | undefined;
  /** Earliest time of the next start. */
  #notBefore = 0;
  /** Error of the last failed deletion. */
  #trouble: Error | undefined;
  #looked = Promise.withResolvers<void>();
  #wake: () => void = () => undefined;

  constructor(folder: SpaceFolder, options: SpaceProcessOptions) {
    this.folder = folder;
    this.#options = options;
    this.#process = new ServerProcess(folder, options, () => this.look());
    this.#state = { name: folder.name, id: folder.id, phase: "Initializing", message: "not checked yet" };
    this.#running = this.#run(this.#over.signal);
  }

  /** Returns the state at the last check, after the first one. */
  async state(signal: AbortSignal): Promise<PhysicalSpace> {
    if (this.#state.message === "not checked yet") await untilAborted(this.#looked.promise, signal);
    return this.#state;
  }

  /** Kubeconfig of a ready space. Security: it contains credentials. @throws Error that gives the reason if it is not ready */
  get kubeconfig(): string {
    const { phase, message = "" } = this.#state;
    if (phase !== "Ready" || this.#server === undefined) throw new Error(message);
    return this.#server.kubeconfig;
  }

  /** Triggers a check. */
  look(): void {
    this.#wake();
  }

  /** Deletes the space and its data. Resolves when that is done, here or in another manager. @throws Error that gives the reason of a failure */
  async leave(signal: AbortSignal): Promise<void> {
    this.folder.leave();
    // The current check may have started before the deletion was recorded.
    for (const _ of [1, 2]) {
      const { promise } = this.#looked;
      this.look();
      await untilAborted(promise, signal);
    }
    if (this.#trouble !== undefined) throw this.#trouble;
  }

  /** Stops the checks and then the process. @throws Error if the process does not end */
  async stop(): Promise<void> {
    await this.#process.stop();
  }

  /** Stops the checks and kills the process. */
  kill(): void {
    this.#process.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#running;
    await this.#server?.[Symbol.asyncDispose]();
  }

  async #run(signal: AbortSignal): Promise<void> {
    let wait: number | undefined = 0;
    while (!signal.aborted && wait !== undefined) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      try {
        wait = await this.#look(signal);
      } catch (error) {
        if (signal.aborted) break;
        this.#say((error as Error).message);
        wait = this.#options.checkEvery;
      }
      const { resolve } = this.#looked;
      this.#looked = Promise.withResolvers<void>();
      resolve();
      if (wait !== undefined) await sleep(wait, { signal: AbortSignal.any([signal, woken.signal]) });
    }
    this.#looked.resolve();
  }

  /** @returns delay until the next check, ms; `undefined` after the deletion */
  async #look(signal: AbortSignal): Promise<number | undefined> {
    const { isOurs, checkEvery } = this.#options;
    if (this.folder.isLeaving) return isOurs() ? this.#remove() : this.#say("the space is being deleted", checkEvery);
    const found = await this.#process.find();
    if (found === undefined) return isOurs() ? this.#start() : this.#say("the process has ended", checkEvery);
    this.#isThere = true;
    return this.#ask(signal);
  }

  async #remove(): Promise<number | undefined> {
    this.#say("the space is being deleted");
    try {
      await this.#process.stop();
      this.folder.remove();
      this.#trouble = undefined;
      this.#options.onChange();
      return undefined;
    } catch (error) {
      this.#trouble = error as Error;
      throw error;
    }
  }

  async #start(): Promise<number> {
    const now = performance.now();
    if (this.#isThere) this.#fell(now);
    if (now < this.#notBefore) return this.#notBefore - now;
    try {
      await this.#process.start();
    } catch (error) {
      this.#notBefore = performance.now() + this.#backoff.next();
      throw error;
    }
    this.#isThere = true;
    this.#startedAt = performance.now();
    return this.#say(this.#fall ?? "the process is starting", SOON);
  }

  /** Records that a running process has ended. */
  #fell(now: number): void {
    const { log } = this.#options;
    const { end } = this.#process;
    if (this.#readySince !== undefined && now - this.#readySince > STEADY) this.#backoff.reset();
    this.#isThere = false;
    this.#readySince = undefined;
    this.#notBefore = now + this.#backoff.next();
    this.#fall = `${end} and is restarted: see the file log of the space`;
    this.#say(this.#fall);
    log({ level: "warn", message: "the process of a space has ended", name: this.folder.name, error: end });
  }

  async #ask(signal: AbortSignal): Promise<number> {
    const { kubeconfig, checkEvery, answerWithin } = this.#options;
    const isStarting = performance.now() - this.#startedAt < STARTING;
    const text = this.folder.kubeconfig(kubeconfig);
    if (text !== undefined) await this.#reach(text);
    const problem = await this.#server?.problem(answerWithin, signal);
    if (this.#server !== undefined && problem === undefined) {
      this.#fall = undefined;
      this.#readySince ??= performance.now();
      return this.#say(undefined, checkEvery);
    }
    const message = problem ?? "the server has not written a kubeconfig yet";
    if (isStarting) return this.#say(this.#fall ?? message, Math.min(SOON, checkEvery));
    return this.#say(message, checkEvery);
  }

  /** Reconnects after a change of the kubeconfig, which may have another address or credential. */
  async #reach(text: string): Promise<void> {
    if (text === this.#text) return;
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
    this.#text = undefined;
    try {
      this.#server = ReachedServer.by(text, this.folder.name);
      this.#text = text;
    } catch (error) {
      if (error instanceof SecretFault) throw new Error(`invalid kubeconfig of the server: ${error.message}`);
      throw error;
    }
  }

  #say<T>(message: string | undefined, then?: T): T {
    const { name, id } = this.folder;
    const version = this.#server?.version;
    const state: PhysicalSpace = {
      name,
      id,
      ...(message === undefined ? { phase: "Ready" } : { phase: "Initializing", message }),
      ...(version !== undefined && { accessVersion: version }),
    };
    const before = this.#state;
    this.#state = state;
    if (!sameSpace(before, state)) this.#options.onChange();
    return then as T;
  }
}
