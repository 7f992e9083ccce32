import { isApiError } from "@virtual-workspaces/apimachinery";
import { retryAfterOf } from "@virtual-workspaces/client/http";
import { aborted, Backoff, sleep } from "@virtual-workspaces/transport";
import { API_STATES } from "../protocol/api-states.ts";
import { AgentEnd } from "../tunnel/agent-end.ts";
import type { AgentApi } from "./agent-api.ts";
import type { AgentState } from "./agent-state.ts";
import type { Certificates } from "./certificates.ts";
import type { DialledHub, HubClient, ReachedHubs } from "./hub-client.ts";
import { KnownHubs } from "./known-hubs.ts";
import type { AgentOptions } from "./options.ts";

/** Options of {@link AgentTunnels}. */
export interface AgentTunnelsOptions extends Pick<AgentOptions, "version" | "tunnel" | "hubs" | "onEvent"> {
  readonly reached: ReachedHubs;
  readonly state: AgentState;
  readonly certificates: Certificates;
  readonly api: AgentApi;
}

/** Sequence of tunnels, with one hub at a time. */
interface Lane {
  readonly who: symbol;
  /** Whether it dials the configured URL, which may lead to any hub; other lanes then give way. */
  readonly isFirst: boolean;
  readonly backoff: Backoff;
}

const HUBS = 2;
/** Time limit for the first probe of the API server before the first tunnel, ms. */
const PROBED_WITHIN = 1_000;
/** Backoff after a failed tunnel, or one to a hub that already has another, ms. */
const BACKOFF = { first: 500, most: 30_000 } as const;
const FURTHER = { first: 500, most: 300_000 } as const;
/** Duration after which a tunnel counts as successful, ms. */
const STOOD = 60_000;
/** Interval between requests for the list of hubs, ms, approximately. */
const LOOKED_AT = 300_000;

/** Tunnels of an agent: one to the configured URL, which may be a load balancer of several hubs, and others to further hubs. */
export class AgentTunnels implements AsyncDisposable {
  readonly #options: AgentTunnelsOptions;
  readonly #known: KnownHubs;
  readonly #ends = new Map<AgentEnd, symbol>();
  /** Resolves when the configured hub has accepted or rejected the first tunnel. */
  readonly #first = Promise.withResolvers<void>();
  #numbered: Promise<unknown> = Promise.resolve();
  #epoch: number | undefined;
  #draining = false;
  #wakeRefresh = (): void => undefined;

  /** @throws Error on an invalid number of hubs */
  constructor(options: AgentTunnelsOptions) {
    const { hubs = HUBS } = options;
    if (!(Number.isSafeInteger(hubs) && hubs >= 1))
      throw new Error("invalid hubs of an agent: use a number of at least 1");
    this.#options = options;
    this.#known = new KnownHubs(options.state.others);
  }

  /** Dials until the signal aborts. @throws ApiError when another agent has replaced this one */
  async run(signal: AbortSignal): Promise<void> {
    const { hubs = HUBS } = this.#options;
    const further = Array.from({ length: hubs - 1 }, () => this.#dialFurther(signal));
    await Promise.all([this.#dialConfigured(signal), ...(hubs > 1 ? [this.#refreshHubs(signal)] : []), ...further]);
  }

  /** Stops dialing; resolves when all streams of the current tunnels have ended. */
  async drain(): Promise<void> {
    this.#draining = true;
    await Promise.all([...this.#ends.keys()].map((end) => end.drain()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#draining = true;
    await Promise.all([...this.#ends.keys()].map((end) => end[Symbol.asyncDispose]()));
  }

  /** The next tunnel is open before a drained one ends. */
  async #dialConfigured(signal: AbortSignal): Promise<void> {
    const { reached, certificates } = this.#options;
    const lane = { who: Symbol("told"), isFirst: true, backoff: new Backoff(BACKOFF) };
    while (!this.#isOver(signal)) {
      const tunnel = async (): Promise<AgentEnd> => {
        await certificates.enrolled(signal);
        // A short wait, since the hub otherwise learns the state only from a later ping.
        await Promise.race([this.#options.api.probe.first, sleep(PROBED_WITHIN, { signal, ref: false })]);
        return this.#dial(reached.configured, lane, signal).finally(this.#first.resolve);
      };
      // The initial certificate may belong to an earlier enrollment.
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

  /** Waits for the end of a tunnel and a backoff. @returns whether the tunnel failed @throws ApiError when another agent has replaced this one */
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
      // An intentional end needs no backoff.
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
    const report = (): number | undefined =>
      api.probe.state === undefined ? undefined : API_STATES.indexOf(api.probe.state);
    const end = new AgentEnd(socket, { ...tunnel, targets: (name) => api.target(name), report, onError });
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

  /** Dials hubs one at a time until one has assigned the epoch: hubs would otherwise see two agents. */
  async #dialInTurn(client: HubClient, signal: AbortSignal): Promise<DialledHub> {
    const { certificates, api, version = "unknown" } = this.#options;
    const dial = async (): Promise<DialledHub> => {
      const terms = { epoch: this.#epoch, version, tls: api.tls, api: api.probe.state, signal };
      const dialled = await client.tunnel(() => certificates.proof(), terms);
      this.#epoch = dialled.epoch;
      return dialled;
    };
    if (this.#epoch !== undefined) return dial();
    const dialled = this.#numbered.then(dial);
    this.#numbered = dialled.catch(() => undefined);
    return dialled;
  }

  /** Keeps one tunnel for each hub. */
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

/** Another agent has replaced this one. */
const isFenced = (error: unknown): boolean => isApiError(error) && error.code === 409;
/** The hub does not accept the agent, or no longer. */
const isRefused = (error: unknown): boolean => isApiError(error) && (error.code === 401 || error.code === 403);
