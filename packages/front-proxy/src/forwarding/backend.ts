import type { Log } from "@virtual-workspaces/framework/server";
import type { TargetServer } from "./target-server.ts";

/** Settings of a backend within its path. */
export interface BackendOptions {
  /** Whether the path has no other backend: then there are no readiness checks. */
  readonly isAlone: boolean;
  readonly path: string;
  readonly log: Log;
}

/** Time between two readiness checks, and time limit of one, ms. */
const EVERY = 2_000;
const PATIENCE = 2_000;

/**
 * Backend of a path, one of several equal servers. Checks its `/readyz` every two seconds: a draining server fails there
 * before it closes, and so gets no new requests. A server without `/readyz`, or one that requires authentication there,
 * counts as ready.
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

  /** Marks the backend as not ready after a failed request, and checks it at once. */
  failed(): void {
    if (this.#options.isAlone || this.#stop.signal.aborted) return;
    this.#set(false);
    if (this.#looking === undefined) this.#look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the backend was removed"));
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
      message: `backend of a path is ${isReady ? "" : "not "}ready`,
      path,
      url,
    });
  }
}
