import { ApiError } from "@virtual-workspaces/apimachinery";
import type { Authorizer } from "./authz/authorization.ts";
import { Reviews } from "./authz/reviews/reviews.ts";
import { type HookedView, ResourceIndexes } from "./hooks/hooks.ts";
import type { Log } from "./observe/log/log.ts";
import type { ObservedView } from "./observe/observer.ts";
import type { SetupResult, VirtualWorkspace } from "./virtual-workspace.ts";

/** Time a readiness result stays valid, ms. */
const FRESH = 1_000;

/** A running view: set up, ready or not. */
export class Mounted implements ObservedView, HookedView, AsyncDisposable {
  readonly workspace: VirtualWorkspace;
  readonly reviews: Reviews;
  readonly indexes: ResourceIndexes;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #starting: Promise<void> | undefined;
  #setup: SetupResult;
  #started = false;
  #problem: ApiError | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | undefined;
  /** Last logged failure: a hook that runs every second must not log the same failure every second. */
  #said = "";

  constructor(workspace: VirtualWorkspace, log: Log, impersonation: Authorizer<unknown>) {
    this.workspace = workspace;
    this.reviews = new Reviews({ workspace, log, impersonation });
    this.indexes = new ResourceIndexes(this.reviews.served);
    this.#log = log;
    this.#problem = this.#notReady("it is starting");
  }

  get name(): string {
    return this.workspace.name;
  }

  get path(): string {
    return this.workspace.path;
  }

  get prefix(): string | undefined {
    return this.workspace.prefix;
  }

  get wildcard(): boolean {
    return this.workspace.wildcard === true;
  }

  get locates(): boolean {
    return this.workspace.locate !== undefined;
  }

  get clusterSuffix(): boolean {
    return this.workspace.clusterSuffix === true;
  }

  get rawTail(): boolean {
    return this.workspace.handle !== undefined || this.workspace.upgrade !== undefined;
  }

  /** Runs `setup`. @throws what it throws: a server whose view cannot be set up does not start */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const result = await this.workspace.setup?.({ signal: this.#stop.signal, log: this.#log });
    this.#setup = disposableOf(result, this.name);
    this.#started = true;
    void this.check();
  }

  /** Returns the cached error 503 for requests, if any; checks again in the background when the result is old. */
  problem(): ApiError | undefined {
    if (this.workspace.ready === undefined && this.#started) return undefined;
    if (performance.now() - this.#checkedAt > FRESH) void this.check();
    return this.#problem;
  }

  /** Calls the `ready` hook now. */
  check(): Promise<void> {
    if (!this.#started) return Promise.resolve();
    this.#checking ??= this.#ask().finally(() => {
      this.#checking = undefined;
      this.#checkedAt = performance.now();
    });
    return this.#checking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    // Waits for a setup under way, so that its result is disposed. Its caller gets its failure.
    await this.#starting?.catch(() => undefined);
    const held = this.#setup;
    this.#setup = undefined;
    if (held === undefined) return;
    if (Symbol.asyncDispose in held) await held[Symbol.asyncDispose]();
    else held[Symbol.dispose]();
  }

  async #ask(): Promise<void> {
    try {
      await this.workspace.ready?.({ signal: this.#stop.signal });
      this.#problem = undefined;
      this.#say("");
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#problem = this.#notReady("its ready hook failed");
      this.#say(String(error));
    }
  }

  #say(error: string): void {
    if (error === this.#said) return;
    this.#said = error;
    const virtualWorkspace = this.name;
    if (error === "") this.#log({ level: "info", message: "virtual workspace is ready again", virtualWorkspace });
    else this.#log({ level: "warn", message: "virtual workspace is not ready", virtualWorkspace, error });
  }

  #notReady(why: string): ApiError {
    return ApiError.serviceUnavailable(`virtual workspace ${this.name} is not ready: ${why}; try again`, 1);
  }
}

/** Checks what `setup` has returned; a caller without types may return anything. @throws Error that names the view */
function disposableOf(result: unknown, name: string): SetupResult {
  if (result === undefined || result === null) return undefined;
  const held = Object(result) as object;
  if (Symbol.asyncDispose in held || Symbol.dispose in held) return held as SetupResult;
  throw new Error(
    `invalid result of setup of virtual workspace ${name}: return an object with Symbol.asyncDispose or Symbol.dispose, or nothing`,
  );
}
