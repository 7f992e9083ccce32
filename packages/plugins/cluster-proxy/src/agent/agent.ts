import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { isApiError } from "@virtual-workspaces/apimachinery";
import { Backoff } from "@virtual-workspaces/client";
import { API_TARGET } from "../enrolment/wire.ts";
import { AgentEnd } from "../tunnel/agent-end.ts";
import { Certificates } from "./certificates.ts";
import { HubClient } from "./hub-client.ts";
import type { AgentOptions } from "./options.ts";
import { RemoteApi } from "./remote-api.ts";

/** The waits of an agent that cannot have a tunnel, ms. */
const BACKOFF = { first: 500, most: 30_000 } as const;
/** A tunnel that has stood so long was no failure, ms. */
const STOOD = 60_000;
/** How long a hub needs to hear that nothing more is taken, ms. */
const HEARD = 500;
/** How often it is looked at whether the certificate is to be renewed, ms at most: clocks can be set, and machines sleep. */
const LOOKED_AT = 60_000;

/**
 * The agent of a remote cluster: dials the hub, and gives it connections to the cluster's API server and to nothing else. It gets its certificate by a token and renews it
 * by itself, dials again whenever a tunnel ends, and ends when another agent with its certificate has taken its place.
 */
export class Agent implements AsyncDisposable {
  /** Resolves when it ends: with an error when it cannot go on, with `undefined` when it was disposed of. */
  readonly ended: Promise<Error | undefined>;
  readonly #options: AgentOptions;
  readonly #over = new AbortController();
  readonly #hub: HubClient;
  readonly #certificates: Certificates;
  readonly #api: RemoteApi;
  readonly #tunnels = new Set<AgentEnd>();
  #epoch: number | undefined;
  #draining = false;

  /** @throws Error on options that cannot be used */
  constructor(options: AgentOptions) {
    this.#options = options;
    this.#hub = new HubClient(options);
    this.#certificates = new Certificates(this.#hub, options);
    this.#api = new RemoteApi(options);
    this.ended = this.#run();
  }

  /** Ends the tunnels, and what is open through them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.ended;
  }

  /** Takes nothing more; ends when what is under way has ended, watches among it, or the signal says so. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#draining = true;
    const drained = [...this.#tunnels].map((end) => end.drain());
    // What the hub has asked before it hears of it is answered.
    const ended = pause(HEARD, undefined, { signal }).then(() => this.#api.close());
    await Promise.race([Promise.all([...drained, ended]), aborted(signal)]).catch(() => undefined);
    await this[Symbol.asyncDispose]();
  }

  async #run(): Promise<Error | undefined> {
    const { signal } = this.#over;
    try {
      await this.#api.start();
      await Promise.all([this.#dialling(signal), this.#renewing(signal)]);
      return undefined;
    } catch (error) {
      return signal.aborted ? undefined : (error as Error);
    } finally {
      this.#over.abort();
      await Promise.all([...this.#tunnels, this.#hub, this.#api].map((one) => one[Symbol.asyncDispose]()));
    }
  }

  /** One tunnel after the other; the next is there before one that is drained ends. */
  async #dialling(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    while (!signal.aborted && !this.#draining) {
      const begun = performance.now();
      try {
        await this.#certificates.enrolled(signal);
        const end = await this.#dial(signal);
        await Promise.race([end.closed, end.draining]);
        if (performance.now() - begun > STOOD) backoff.reset();
      } catch (error) {
        signal.throwIfAborted();
        if (isFenced(error)) throw error;
        // The one that it was started with may have been enrolled anew.
        if (isRefused(error) && this.#certificates.refused()) continue;
        await this.#wait("tunnel", { error, backoff, signal });
        continue;
      }
      // Whoever ends a tunnel may do so again.
      if (!signal.aborted) await pause(backoff.next() / 4, undefined, { signal });
    }
  }

  async #dial(signal: AbortSignal): Promise<AgentEnd> {
    const { version = "unknown", tunnel, onEvent } = this.#options;
    const { socket, epoch } = await this.#hub.tunnel(() => this.#certificates.proof(), {
      epoch: this.#epoch,
      version,
      signal,
    });
    this.#epoch = epoch;
    const api = { dial: async () => this.#api.connect() };
    const end = new AgentEnd(socket, { ...tunnel, targets: (name) => (name === API_TARGET ? api : undefined) });
    this.#tunnels.add(end);
    onEvent?.({ type: "connected", epoch });
    void end.draining.then(() => {
      if (!this.#draining && !this.#over.signal.aborted) onEvent?.({ type: "draining" });
    });
    void end.closed.then((error) => {
      this.#tunnels.delete(end);
      onEvent?.({ type: "disconnected", error });
    });
    return end;
  }

  async #renewing(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    await Promise.race([this.#certificates.first, aborted(signal)]);
    while (!signal.aborted) {
      await pause(Math.max(0, Math.min(this.#certificates.renewIn, LOOKED_AT)), undefined, { signal });
      if (this.#certificates.renewIn > 0) continue;
      try {
        await this.#certificates.renew(signal);
        backoff.reset();
      } catch (error) {
        signal.throwIfAborted();
        await this.#wait("certificate", { error, backoff, signal });
      }
    }
  }

  async #wait(
    what: "certificate" | "tunnel",
    { error, backoff, signal }: { readonly error: unknown; readonly backoff: Backoff; readonly signal: AbortSignal },
  ): Promise<void> {
    const retryAfter = backoff.next(error);
    this.#options.onEvent?.({ type: "failed", what, error, retryAfter });
    await pause(retryAfter, undefined, { signal });
  }
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return signal.aborted ? Promise.resolve() : once(signal, "abort");
}

/** Another agent has its place. */
const isFenced = (error: unknown): boolean => isApiError(error) && error.code === 409;
/** It is none of the hub's agents, or none any more. */
const isRefused = (error: unknown): boolean => isApiError(error) && (error.code === 401 || error.code === 403);
