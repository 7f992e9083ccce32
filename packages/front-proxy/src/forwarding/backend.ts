import type { Log } from "@virtual-workspaces/framework/server";
import type { TargetServer } from "./target-server.ts";

/** What a backend is one of. */
export interface BackendOptions {
  /** Whether there is no other one: then nothing is looked after. */
  readonly isAlone: boolean;
  readonly path: string;
  readonly log: Log;
}

/** Between two looks, ms; and how long one may take. */
const EVERY = 2_000;
const PATIENCE = 2_000;

/**
 * One of several servers that are as good as each other. Whether it is ready says its `/readyz`, every two seconds: one that drains
 * fails there before it ends, so that it gets no new request. One that has no `/readyz` for us, or wants to know who asks, is there all the same.
 */
export class Backend implements AsyncDisposable {
  readonly server: TargetServer;
  readonly #options: BackendOptions;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isReady = true;

  constructor(server: TargetServer, options: BackendOptions) {
    this.server = server;
    this.#options = options;
    if (!options.isAlone) this.#look();
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** A request could not be answered there: it is looked at now. */
  failed(): void {
    if (this.#options.isAlone || this.#stop.signal.aborted) return;
    this.#set(false);
    if (this.#looking === undefined) this.#look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the server is not looked after any more"));
    clearTimeout(this.#timer);
    await this.server[Symbol.asyncDispose]();
    await this.#looking;
  }

  #look(): void {
    clearTimeout(this.#timer);
    this.#looking = this.#ask().then((isReady) => {
      this.#looking = undefined;
      if (this.#stop.signal.aborted) return;
      this.#set(isReady);
      this.#timer = setTimeout(() => this.#look(), EVERY).unref();
    });
  }

  async #ask(): Promise<boolean> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(PATIENCE)]);
    try {
      const { status } = await this.server.unknown.send({ method: "GET", path: "/readyz", signal });
      return status < 500;
    } catch {
      return false;
    }
  }

  #set(isReady: boolean): void {
    if (isReady === this.#isReady) return;
    this.#isReady = isReady;
    const { log, path } = this.#options;
    const { url } = this.server.unknown;
    log({
      level: isReady ? "info" : "warn",
      message: `server behind a path is ${isReady ? "" : "not "}ready`,
      path,
      url,
    });
  }
}
