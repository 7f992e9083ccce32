import type { Log } from "@virtual-workspaces/framework/server";
import { SecretFault } from "@virtual-workspaces/kcp/targets";
import { Backoff, sleep, untilAborted } from "@virtual-workspaces/transport";
import { type PhysicalSpace, sameSpace } from "../../provider/provider.ts";
import { ReachedServer } from "../reached-server.ts";
import { ServerProcess, type ServerProcessOptions } from "./server-process.ts";
import type { SpaceFolder } from "./space-folder.ts";

/** How a space that is a process is kept. */
export interface SpaceProcessOptions extends ServerProcessOptions {
  /** Below the server's folder. */
  readonly kubeconfig: string;
  /** How often it is looked after, ms. */
  readonly checkEvery: number;
  /** How long its server may take to answer, ms. */
  readonly answerWithin: number;
  /** Whether its process is ours to start and end, now. */
  readonly isOurs: () => boolean;
  readonly onChange: () => void;
  readonly log: Log;
}

/** How often one is asked that is about to be ready, ms. */
const SOON = 100;
/** For how long it is, ms. */
const STARTING = 60_000;
/** Waits before one is started again that has ended, ms. */
const BACKOFF = { first: 250, most: 30_000 } as const;
/** One that has been ready for so long has not failed to start, ms. */
const STEADY = 10_000;

/** A space that is a process: looked after again and again, by what there is and not by what has happened, so that whoever was killed in the midst of it is followed by another. */
export class SpaceProcess implements AsyncDisposable {
  readonly folder: SpaceFolder;
  readonly #options: SpaceProcessOptions;
  readonly #process: ServerProcess;
  readonly #over = new AbortController();
  readonly #backoff = new Backoff(BACKOFF);
  readonly #running: Promise<void>;
  #state: PhysicalSpace;
  #server: ReachedServer | undefined;
  /** What the kubeconfig said from which that was made. */
  #text: string | undefined;
  #isThere = false;
  /** How it ended last, until it is ready again. */
  #fall: string | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #readySince: number | undefined;
  /** Not started again before. */
  #notBefore = 0;
  /** Why it has not gone. */
  #trouble: Error | undefined;
  #looked = Promise.withResolvers<void>();
  #wake: () => void = () => undefined;

  constructor(folder: SpaceFolder, options: SpaceProcessOptions) {
    this.folder = folder;
    this.#options = options;
    this.#process = new ServerProcess(folder, options, () => this.look());
    this.#state = { name: folder.name, id: folder.id, phase: "Initializing", message: "nobody has looked yet" };
    this.#running = this.#run(this.#over.signal);
  }

  /** As it was when it was looked at last; once that has been. */
  async state(signal: AbortSignal): Promise<PhysicalSpace> {
    if (this.#state.message === "nobody has looked yet") await untilAborted(this.#looked.promise, signal);
    return this.#state;
  }

  /** How it is reached, while it is ready. Secret. @throws Error that says why it is not */
  get kubeconfig(): string {
    const { phase, message = "" } = this.#state;
    if (phase !== "Ready" || this.#server === undefined) throw new Error(message);
    return this.#server.kubeconfig;
  }

  /** Has it looked after now. */
  look(): void {
    this.#wake();
  }

  /** Has it end, with all that is in it. Resolves once that is done, or somebody else does it. @throws Error that says why it is not done */
  async leave(signal: AbortSignal): Promise<void> {
    this.folder.leave();
    // The look that is under way may have begun before.
    for (const _ of [1, 2]) {
      const { promise } = this.#looked;
      this.look();
      await untilAborted(promise, signal);
    }
    if (this.#trouble !== undefined) throw this.#trouble;
  }

  /** Ends its process, once it is looked after no more. @throws Error on one that cannot be ended */
  async stop(): Promise<void> {
    await this.#process.stop();
  }

  /** As {@link stop}, at once. */
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

  /** @returns when to look again, ms; `undefined`: never, it is gone */
  async #look(signal: AbortSignal): Promise<number | undefined> {
    const { isOurs, checkEvery } = this.#options;
    if (this.folder.isLeaving) return isOurs() ? this.#remove() : this.#say("it is being deleted", checkEvery);
    const found = await this.#process.find();
    if (found === undefined) return isOurs() ? this.#start() : this.#say("its process has ended", checkEvery);
    this.#isThere = true;
    return this.#ask(signal);
  }

  async #remove(): Promise<number | undefined> {
    this.#say("it is being deleted");
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
    return this.#say(this.#fall ?? "its process starts", SOON);
  }

  /** It was there, and is not any more. */
  #fell(now: number): void {
    const { log } = this.#options;
    const { end } = this.#process;
    if (this.#readySince !== undefined && now - this.#readySince > STEADY) this.#backoff.reset();
    this.#isThere = false;
    this.#readySince = undefined;
    this.#notBefore = now + this.#backoff.next();
    this.#fall = `${end}, and is started again: the file log of the space says more`;
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
    const message = problem ?? "its server has not said yet how it is reached";
    if (isStarting) return this.#say(this.#fall ?? message, Math.min(SOON, checkEvery));
    return this.#say(message, checkEvery);
  }

  /** Another kubeconfig leads elsewhere, or shows somebody else. */
  async #reach(text: string): Promise<void> {
    if (text === this.#text) return;
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
    this.#text = undefined;
    try {
      this.#server = ReachedServer.by(text, this.folder.name);
      this.#text = text;
    } catch (error) {
      if (error instanceof SecretFault) throw new Error(`what its server says of how it is reached: ${error.message}`);
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
