import { setTimeout as pause } from "node:timers/promises";
import { retryAfterOf } from "@virtual-workspaces/client/http";
import { aborted, Backoff, sleep } from "@virtual-workspaces/transport";
import { type AgentApi, ByteApi, RemoteApi } from "./agent-api.ts";
import { AgentState } from "./agent-state.ts";
import { AgentTunnels } from "./agent-tunnels.ts";
import { Certificates } from "./certificates.ts";
import { HubClient, HubClock, ReachedHubs } from "./hub-client.ts";
import type { AgentOptions } from "./options.ts";

/** Backoff after a failed renewal of the certificate, ms. */
const BACKOFF = { first: 500, most: 30_000 } as const;
/** Time for a hub to receive the drain message, ms. */
const HEARD = 500;
/** Maximum interval between checks for a renewal, ms: clocks may be set and machines may sleep. */
const LOOKED_AT = 60_000;

/**
 * Agent of a remote cluster. It dials one or more hubs and gives them connections to the cluster's API server only. It obtains its
 * certificate with a token, renews it, redials after the end of a tunnel, and ends when another agent with its certificate has replaced it.
 */
export class Agent implements AsyncDisposable {
  /** Resolves at the end: with an error if the agent cannot continue, with `undefined` after disposal. */
  readonly ended: Promise<Error | undefined>;
  readonly #options: AgentOptions;
  readonly #over = new AbortController();
  readonly #hub: HubClient;
  readonly #certificates: Certificates;
  readonly #api: AgentApi;
  readonly #tunnels: AgentTunnels;

  /** @throws Error on invalid options */
  constructor(options: AgentOptions) {
    if (options.endToEnd === true && options.allow !== undefined)
      throw new Error(
        "allow of an agent: not supported with endToEnd, whose requests the agent cannot read: omit one of both",
      );
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

  /** Closes the tunnels with all their streams. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.ended;
  }

  /** Accepts no new streams, and ends when the open ones and their watches have ended or the signal aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    const drained = this.#tunnels.drain();
    // Requests that the hub sent before it received the drain message are answered.
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
