import { setTimeout as pause } from "node:timers/promises";
import { retryAfterOf } from "@virtual-workspaces/client/http";
import { aborted, Backoff, sleep } from "@virtual-workspaces/transport";
import { type AgentApi, ByteApi, RemoteApi } from "./agent-api.ts";
import { AgentState } from "./agent-state.ts";
import { AgentTunnels } from "./agent-tunnels.ts";
import { Certificates } from "./certificates.ts";
import { HubClient, HubClock, ReachedHubs } from "./hub-client.ts";
import type { AgentOptions } from "./options.ts";

/** The waits of an agent whose certificate is not renewed, ms. */
const BACKOFF = { first: 500, most: 30_000 } as const;
/** How long a hub needs to hear that nothing more is taken, ms. */
const HEARD = 500;
/** How often it is looked at whether the certificate is to be renewed, ms at most: clocks can be set, and machines sleep. */
const LOOKED_AT = 60_000;

/**
 * The agent of a remote cluster: dials its hub, or several of them, and gives it connections to the cluster's API server and to nothing else. It gets its certificate by a token and renews it
 * by itself, dials again whenever a tunnel ends, and ends when another agent with its certificate has taken its place.
 */
export class Agent implements AsyncDisposable {
  /** Resolves when it ends: with an error when it cannot go on, with `undefined` when it was disposed of. */
  readonly ended: Promise<Error | undefined>;
  readonly #options: AgentOptions;
  readonly #over = new AbortController();
  readonly #hub: HubClient;
  readonly #certificates: Certificates;
  readonly #api: AgentApi;
  readonly #tunnels: AgentTunnels;

  /** @throws Error on options that cannot be used */
  constructor(options: AgentOptions) {
    if (options.endToEnd === true && options.allow !== undefined)
      throw new Error("allow of an agent: with endToEnd nothing of what is asked can be read, and none of it refused");
    this.#options = options;
    const clock = new HubClock(options.now);
    const state = new AgentState(options);
    this.#hub = new HubClient(options.hub, clock);
    const reached = new ReachedHubs(this.#hub);
    this.#certificates = new Certificates(reached, { clock, state }, options);
    this.#api = options.endToEnd === true ? new ByteApi(options) : new RemoteApi(options);
    const { version, tunnel, hubs, onEvent } = options;
    this.#tunnels = new AgentTunnels({
      reached,
      state,
      certificates: this.#certificates,
      api: this.#api,
      ...(version !== undefined && { version }),
      ...(tunnel !== undefined && { tunnel }),
      ...(hubs !== undefined && { hubs }),
      ...(onEvent && { onEvent }),
    });
    this.ended = this.#run();
  }

  /** Ends the tunnels, and what is open through them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.ended;
  }

  /** Takes nothing more; ends when what is under way has ended, watches among it, or the signal says so. */
  async drain(signal: AbortSignal): Promise<void> {
    const drained = this.#tunnels.drain();
    // What the hub has asked before it hears of it is answered.
    const ended = pause(HEARD, undefined, { signal }).then(() => this.#api.close());
    await Promise.race([Promise.all([drained, ended]), aborted(signal)]).catch(() => undefined);
    await this[Symbol.asyncDispose]();
  }

  async #run(): Promise<Error | undefined> {
    const { signal } = this.#over;
    try {
      await this.#api.start();
      await Promise.all([this.#tunnels.run(signal), this.#renewing(signal)]);
      return undefined;
    } catch (error) {
      return signal.aborted ? undefined : (error as Error);
    } finally {
      this.#over.abort();
      await Promise.all([this.#tunnels, this.#hub, this.#api].map((one) => one[Symbol.asyncDispose]()));
    }
  }

  async #renewing(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    await Promise.race([this.#certificates.first, aborted(signal)]);
    while (!signal.aborted) {
      await sleep(Math.min(this.#certificates.renewIn, LOOKED_AT), { signal });
      signal.throwIfAborted();
      if (this.#certificates.renewIn > 0) continue;
      try {
        await this.#certificates.renew(signal);
        backoff.reset();
      } catch (error) {
        signal.throwIfAborted();
        const retryAfter = backoff.next({ retryAfter: retryAfterOf(error) });
        this.#options.onEvent?.({ type: "failed", what: "certificate", error, retryAfter });
        await sleep(retryAfter, { signal });
        signal.throwIfAborted();
      }
    }
  }
}
