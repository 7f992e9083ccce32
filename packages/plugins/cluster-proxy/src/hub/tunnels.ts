import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { MetricFamily } from "@virtual-workspaces/framework";
import type { HubEnd } from "../tunnel/hub-end.ts";
import { isTunnelError } from "../tunnel/tunnel-error.ts";
import { type ProxyKey, textOf } from "./proxy-key.ts";
import { TunnelMeter } from "./tunnel-families.ts";

/** A tunnel that an agent has dialled. */
export interface Tunnel {
  readonly end: HubEnd;
  /** Which agent: one that starts later has a greater one. */
  readonly epoch: number;
  /** As the agent says. */
  readonly version: string;
  /** By which enrolment the agent was let in, and when the token of that was made, s since 1970. */
  readonly enrolment: string;
  readonly tokenIssued: number;
}

/** Who is told of tunnels that come and go. */
export interface TunnelsOptions {
  readonly changed: (key: ProxyKey) => void;
  /** How long a request waits for an agent that dials again, ms. @default 3000 */
  readonly patience?: number;
}

const PATIENCE = 3_000;

/** The tunnels of a hub. Of several with one agent, as while it leaves one for the next, the newest is used. */
export class Tunnels implements AsyncDisposable {
  readonly #options: TunnelsOptions;
  /** The newest last. */
  readonly #byProxy = new Map<string, readonly Tunnel[]>();
  readonly #meter = new TunnelMeter();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(options: TunnelsOptions) {
    this.#options = options;
  }

  /** What can be used, the newest first. */
  of(key: ProxyKey): readonly Tunnel[] {
    return (this.#byProxy.get(textOf(key)) ?? []).filter(({ end }) => end.usable).reverse();
  }

  /** There is one more, until it has ended. */
  add(key: ProxyKey, tunnel: Tunnel): void {
    const text = textOf(key);
    this.#meter.opened();
    this.#byProxy.set(text, [...(this.#byProxy.get(text) ?? []), tunnel]);
    for (const go of this.#waiting.get(text) ?? []) go();
    this.#options.changed(key);
    void tunnel.end.draining.then(() => this.#options.changed(key));
    void tunnel.end.closed.then(() => this.#remove(key, tunnel));
  }

  /** Ends those that are not good any more, and whatever is open through them. */
  end(key: ProxyKey, isOver: (tunnel: Tunnel) => boolean): void {
    for (const tunnel of this.#byProxy.get(textOf(key)) ?? [])
      if (isOver(tunnel)) void tunnel.end[Symbol.asyncDispose]();
  }

  /** Waits a little for a tunnel, where there is none. @returns whether there is one @throws the signal's reason */
  async wait(key: ProxyKey, signal: AbortSignal): Promise<boolean> {
    if (this.of(key).length > 0) return true;
    const text = textOf(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(text) ?? new Set();
    this.#waiting.set(text, waiting.add(resolve));
    const late = new AbortController();
    const { patience = PATIENCE } = this.#options;
    try {
      const over = pause(patience, undefined, { signal: AbortSignal.any([signal, late.signal]), ref: false });
      await Promise.race([promise, over.catch(() => signal.throwIfAborted())]);
    } finally {
      late.abort();
      waiting.delete(resolve);
      if (waiting.size === 0) this.#waiting.delete(text);
    }
    return this.of(key).length > 0;
  }

  /**
   * A connection to what the agent calls so, through one tunnel, or through another if that takes no more.
   *
   * @throws TunnelError; the signal's reason
   */
  async open(
    key: ProxyKey,
    target: string,
    { signal, first }: { readonly signal: AbortSignal; readonly first: Tunnel },
  ): Promise<Duplex> {
    let failure: unknown;
    for (const { end } of new Set([first, ...this.of(key)]))
      try {
        return await end.open(target, { signal });
      } catch (error) {
        // Nothing was asked of it: another one may do.
        if (!isTunnelError(error) || (error.code !== "draining" && error.code !== "closed")) throw error;
        failure = error;
      }
    throw failure;
  }

  /** What is counted of them. */
  families(): readonly MetricFamily[] {
    return this.#meter.families([...this.#byProxy.values()].flat().map(({ end }) => end.stats));
  }

  /** Ends all of them. */
  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#byProxy.values()].flat();
    await Promise.all(all.map(({ end }) => end[Symbol.asyncDispose]()));
  }

  #remove(key: ProxyKey, tunnel: Tunnel): void {
    const text = textOf(key);
    this.#meter.ended(tunnel.end.stats);
    const rest = (this.#byProxy.get(text) ?? []).filter((one) => one !== tunnel);
    if (rest.length > 0) this.#byProxy.set(text, rest);
    else this.#byProxy.delete(text);
    this.#options.changed(key);
  }
}
