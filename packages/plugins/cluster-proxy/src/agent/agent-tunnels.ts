import { isApiError } from "@virtual-workspaces/apimachinery";
import { retryAfterOf } from "@virtual-workspaces/client/http";
import { aborted, Backoff, sleep } from "@virtual-workspaces/transport";
import { AgentEnd } from "../tunnel/agent-end.ts";
import type { AgentApi } from "./agent-api.ts";
import type { AgentState } from "./agent-state.ts";
import type { Certificates } from "./certificates.ts";
import type { DialledHub, HubClient, ReachedHubs } from "./hub-client.ts";
import { KnownHubs } from "./known-hubs.ts";
import type { AgentOptions } from "./options.ts";

/** What tunnels are dialled by. */
export interface AgentTunnelsOptions extends Pick<AgentOptions, "version" | "tunnel" | "hubs" | "onEvent"> {
  readonly reached: ReachedHubs;
  readonly state: AgentState;
  readonly certificates: Certificates;
  readonly api: AgentApi;
}

/** One tunnel after the other, to one hub at a time. */
interface Lane {
  readonly who: symbol;
  /** Where it dials that may be any of them, and the others give way. */
  readonly isFirst: boolean;
  readonly backoff: Backoff;
}

const HUBS = 2;
/** The waits of an agent that cannot have a tunnel, and of one that has another already, ms. */
const BACKOFF = { first: 500, most: 30_000 } as const;
const FURTHER = { first: 500, most: 300_000 } as const;
/** A tunnel that has stood so long was no failure, ms. */
const STOOD = 60_000;
/** How often it is asked which hubs there are, ms, about. */
const LOOKED_AT = 300_000;

/** The tunnels of an agent: one to the hub that it was told of, which may be any of several behind a balancer, and further ones to others. */
export class AgentTunnels implements AsyncDisposable {
  readonly #options: AgentTunnelsOptions;
  readonly #known: KnownHubs;
  readonly #ends = new Map<AgentEnd, symbol>();
  /** There is a tunnel, or the hub that it was told of does not give it one. */
  readonly #first = Promise.withResolvers<void>();
  #numbered: Promise<unknown> = Promise.resolve();
  #epoch: number | undefined;
  #draining = false;
  #wakeRefresh = (): void => undefined;

  /** @throws Error on a number of hubs that is none */
  constructor(options: AgentTunnelsOptions) {
    const { hubs = HUBS } = options;
    if (!(Number.isSafeInteger(hubs) && hubs >= 1)) throw new Error("hubs of an agent: give at least 1");
    this.#options = options;
    this.#known = new KnownHubs(options.state.others);
  }

  /** Dials until the signal is aborted. @throws ApiError when another agent has this one's place */
  async run(signal: AbortSignal): Promise<void> {
    const { hubs = HUBS } = this.#options;
    const further = Array.from({ length: hubs - 1 }, () => this.#dialFurther(signal));
    await Promise.all([this.#dialConfigured(signal), ...(hubs > 1 ? [this.#refreshHubs(signal)] : []), ...further]);
  }

  /** No further ones; resolves when what is under way by those that there are has ended. */
  async drain(): Promise<void> {
    this.#draining = true;
    await Promise.all([...this.#ends.keys()].map((end) => end.drain()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#draining = true;
    await Promise.all([...this.#ends.keys()].map((end) => end[Symbol.asyncDispose]()));
  }

  /** The next one is there before one that is drained ends. */
  async #dialConfigured(signal: AbortSignal): Promise<void> {
    const { reached, certificates } = this.#options;
    const lane = { who: Symbol("told"), isFirst: true, backoff: new Backoff(BACKOFF) };
    while (!this.#isOver(signal)) {
      const tunnel = async (): Promise<AgentEnd> => {
        await certificates.enrolled(signal);
        return this.#dial(reached.configured, lane, signal).finally(this.#first.resolve);
      };
      // The one that it was started with may have been enrolled anew.
      await this.#keepTunnel(tunnel, {
        lane,
        signal,
        isForgiven: (error) => isRefused(error) && certificates.refused(),
      });
    }
  }

  async #dialFurther(signal: AbortSignal): Promise<void> {
    const { configured } = this.#options.reached;
    const lane = { who: Symbol("further"), isFirst: false, backoff: new Backoff(FURTHER) };
    await Promise.race([this.#first.promise, aborted(signal)]);
    while (!this.#isOver(signal)) {
      const place = await this.#known.free(lane.who, signal);
      const client = configured.other(place);
      const leave = (): Promise<void> => client[Symbol.asyncDispose]();
      const tunnel = async (): Promise<AgentEnd> => {
        const end = await this.#dial(client, lane, signal).catch(async (error: unknown) => {
          await leave();
          throw error;
        });
        void end.closed.then(leave);
        return end;
      };
      const failed = await this.#keepTunnel(tunnel, { lane, signal, hub: client.url });
      if (failed) this.#known.failed(place.id);
      this.#wakeRefresh();
    }
  }

  /** Waits until a tunnel has come and gone, and then a little. @returns whether it could not be had @throws ApiError when another agent has the place */
  async #keepTunnel(
    tunnel: () => Promise<AgentEnd>,
    {
      lane: { who, backoff },
      signal,
      isForgiven,
      hub,
    }: {
      readonly lane: Lane;
      readonly signal: AbortSignal;
      readonly isForgiven?: (error: unknown) => boolean;
      readonly hub?: string;
    },
  ): Promise<boolean> {
    const begun = performance.now();
    try {
      const end = await tunnel();
      await Promise.race([end.closed, end.draining]);
      this.#known.release(who);
      if (performance.now() - begun > STOOD) backoff.reset();
      // Whoever ends a tunnel may do so again.
      if (signal.aborted) return false;
      await sleep(backoff.next() / 4, { signal });
      signal.throwIfAborted();
      return false;
    } catch (error) {
      signal.throwIfAborted();
      if (isFenced(error)) throw error;
      this.#known.release(who);
      if (isForgiven?.(error)) return true;
      const retryAfter = backoff.next({ retryAfter: retryAfterOf(error) });
      this.#options.onEvent?.({ type: "failed", what: "tunnel", error, retryAfter, ...(hub !== undefined && { hub }) });
      await sleep(retryAfter, { signal });
      signal.throwIfAborted();
      return true;
    }
  }

  async #dial(client: HubClient, lane: Lane, signal: AbortSignal): Promise<AgentEnd> {
    const { api, reached, tunnel, onEvent } = this.#options;
    const hub = client.url;
    const { socket, epoch, id, others } = await this.#dialInTurn(client, signal);
    reached.add(client);
    const onError = (error: unknown): void => onEvent?.({ type: "failed", what: "api", error });
    const end = new AgentEnd(socket, { ...tunnel, targets: (name) => api.target(name), onError });
    this.#ends.set(end, lane.who);
    onEvent?.({ type: "connected", epoch, hub });
    void end.draining.then(() => {
      if (!this.#isOver(signal)) onEvent?.({ type: "draining", hub });
    });
    void end.closed.then((error) => {
      this.#ends.delete(end);
      reached.remove(client);
      onEvent?.({ type: "disconnected", error, hub });
    });
    this.#settle(end, lane, id);
    if (lane.isFirst && others > 0) this.#wakeRefresh();
    return end;
  }

  /** As long as no hub has said which agent this is one is asked after the other: it would be two. */
  async #dialInTurn(client: HubClient, signal: AbortSignal): Promise<DialledHub> {
    const { certificates, api, version = "unknown" } = this.#options;
    const dial = async (): Promise<DialledHub> => {
      const asked = { epoch: this.#epoch, version, tls: api.tls, signal };
      const dialled = await client.tunnel(() => certificates.proof(), asked);
      this.#epoch = dialled.epoch;
      return dialled;
    };
    if (this.#epoch !== undefined) return dial();
    const dialled = this.#numbered.then(dial);
    this.#numbered = dialled.catch(() => undefined);
    return dialled;
  }

  /** One tunnel to each hub. */
  #settle(end: AgentEnd, { who, isFirst }: Lane, id: string): void {
    const others = this.#known.holders(id, who);
    this.#known.hold(who, id);
    if (!isFirst && others.length > 0) void end.drain();
    else for (const [other, whose] of this.#ends) if (others.includes(whose)) void other.drain();
  }

  async #refreshHubs(signal: AbortSignal): Promise<void> {
    const { reached, state, certificates, onEvent } = this.#options;
    let woken = new AbortController();
    this.#wakeRefresh = () => woken.abort();
    while (!this.#isOver(signal)) {
      const until = AbortSignal.any([signal, woken.signal]);
      await sleep(LOOKED_AT * (0.75 + Math.random() / 2), { signal: until });
      woken = new AbortController();
      try {
        if (this.#ends.size === 0) continue;
        const hubs = await reached.ask(async (hub) => hub.hubs(await certificates.proof(), signal), signal);
        this.#known.learn(hubs);
        await state.learn(hubs);
      } catch (error) {
        signal.throwIfAborted();
        onEvent?.({ type: "failed", what: "hubs", error });
      }
    }
  }

  #isOver(signal: AbortSignal): boolean {
    return signal.aborted || this.#draining;
  }
}

/** Another agent has its place. */
const isFenced = (error: unknown): boolean => isApiError(error) && error.code === 409;
/** It is none of the hub's agents, or none any more. */
const isRefused = (error: unknown): boolean => isApiError(error) && (error.code === 401 || error.code === 403);
