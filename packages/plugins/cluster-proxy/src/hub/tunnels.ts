import type { MetricFamily } from "@virtual-workspaces/framework/server";
import type { ApiState } from "../protocol/api-states.ts";
import { type ProxyKey, proxyError, proxyKeyText } from "../protocol/proxy-key.ts";
import type { TunnelStats } from "../tunnel/end.ts";
import type { HubEnd } from "../tunnel/hub-end.ts";

/** Tunnel of an agent. */
export interface Tunnel {
  readonly end: HubEnd;
  /** Epoch of the agent: an agent that starts later has a greater one. */
  readonly epoch: number;
  /** Time of its start. */
  readonly opened: Date;
  /** Version that the agent reports. */
  readonly version: string;
  /** Party that terminates TLS with the API server, as the agent reports. */
  readonly tls: "Agent" | "EndToEnd";
  /** Last reported state of the remote API server, if any. */
  api: ApiState | undefined;
  /** Enrollment of the agent, and the time of its token, s since 1970. */
  readonly enrolment: string;
  readonly tokenIssued: number;
}

/** Tunnels of a hub. If an agent has several, as during its change to the next, the newest one is used. */
export class Tunnels implements AsyncDisposable {
  readonly #changed: (key: ProxyKey) => void;
  readonly #onError: (error: unknown) => void;
  /** Tunnels by ClusterProxy, the newest last. */
  readonly #byProxy = new Map<string, readonly Tunnel[]>();
  readonly #meter = new TunnelMeter();

  /** @param changed called when a tunnel opens or ends @param onError called when a tunnel fails, with its ClusterProxy */
  constructor(changed: (key: ProxyKey) => void, onError: (error: unknown) => void) {
    this.#changed = changed;
    this.#onError = onError;
  }

  /** Returns the usable tunnels, the newest first. */
  of(key: ProxyKey): readonly Tunnel[] {
    return (this.#byProxy.get(proxyKeyText(key)) ?? []).filter(({ end }) => end.usable).reverse();
  }

  /** Adds a tunnel until it ends. */
  add(key: ProxyKey, tunnel: Tunnel): void {
    const text = proxyKeyText(key);
    this.#meter.opened();
    this.#byProxy.set(text, [...(this.#byProxy.get(text) ?? []), tunnel]);
    this.#changed(key);
    void tunnel.end.draining.then(() => this.#changed(key));
    void tunnel.end.closed.then((error) => {
      if (error !== undefined) this.#onError(proxyError(key, "a tunnel of its agent has failed", error));
      this.#remove(key, tunnel);
    });
  }

  /** Stores the state that an agent reports with its pings. Only a change has an effect. */
  reported(key: ProxyKey, tunnel: Tunnel, api: ApiState | undefined): void {
    if (api === undefined || api === tunnel.api) return;
    tunnel.api = api;
    this.#changed(key);
  }

  /** Closes tunnels that are no longer valid, with all their streams. */
  end(key: ProxyKey, isOver: (tunnel: Tunnel) => boolean): void {
    for (const tunnel of this.#byProxy.get(proxyKeyText(key)) ?? [])
      if (isOver(tunnel)) void tunnel.end[Symbol.asyncDispose]();
  }

  /** Returns the metrics. */
  families(): readonly MetricFamily[] {
    return this.#meter.families([...this.#byProxy.values()].flat().map(({ end }) => end.stats));
  }

  /** Closes all tunnels. */
  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#byProxy.values()].flat();
    await Promise.all(all.map(({ end }) => end[Symbol.asyncDispose]()));
  }

  #remove(key: ProxyKey, tunnel: Tunnel): void {
    const text = proxyKeyText(key);
    this.#meter.ended(tunnel.end.stats);
    const rest = (this.#byProxy.get(text) ?? []).filter((one) => one !== tunnel);
    if (rest.length > 0) this.#byProxy.set(text, rest);
    else this.#byProxy.delete(text);
    this.#changed(key);
  }
}

/** Metrics of all tunnels, including those that have ended. */
class TunnelMeter {
  #opened = 0;
  readonly #ended = { streams: 0, read: 0, written: 0 };

  opened(): void {
    this.#opened += 1;
  }

  /** Adds the counters of a tunnel that has ended. */
  ended({ opened, read, written }: TunnelStats): void {
    this.#ended.streams += opened;
    this.#ended.read += read;
    this.#ended.written += written;
  }

  /** @param tunnels open tunnels */
  families(tunnels: readonly TunnelStats[]): readonly MetricFamily[] {
    const sum = (of: (stats: TunnelStats) => number): number => tunnels.reduce((total, stats) => total + of(stats), 0);
    const { streams, read, written } = this.#ended;
    const slowest = Math.max(0, ...tunnels.map(({ heartbeat }) => heartbeat?.roundTrip ?? 0));
    return [
      gauge("clusterproxy_tunnels", "Open tunnels of agents.", tunnels.length),
      counter("clusterproxy_tunnels_opened_total", "Total number of tunnels that agents have opened.", this.#opened),
      gauge(
        "clusterproxy_tunnel_streams",
        "Open streams in tunnels.",
        sum((one) => one.streams),
      ),
      counter(
        "clusterproxy_tunnel_streams_opened_total",
        "Total number of streams opened in tunnels.",
        streams + sum((one) => one.opened),
      ),
      {
        name: "clusterproxy_tunnel_bytes_total",
        help: "Bytes in tunnels, by direction: sent to agents or received from them.",
        type: "counter",
        labelNames: ["direction"],
        samples: [
          { labels: ["received"], value: read + sum((one) => one.read) },
          { labels: ["sent"], value: written + sum((one) => one.written) },
        ],
      },
      gauge("clusterproxy_tunnel_heartbeat_seconds", "Latest round-trip time of the slowest agent.", slowest / 1000),
    ];
  }
}

const one = (value: number) => ({ labelNames: [], samples: [{ labels: [], value }] });
const gauge = (name: string, help: string, value: number): MetricFamily => ({
  name,
  help,
  type: "gauge",
  ...one(value),
});
const counter = (name: string, help: string, value: number): MetricFamily => ({
  name,
  help,
  type: "counter",
  ...one(value),
});
