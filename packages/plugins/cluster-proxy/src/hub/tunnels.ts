import type { MetricFamily } from "@virtual-workspaces/framework/server";
import { type ProxyKey, proxyKeyText } from "../protocol/proxy-key.ts";
import type { TunnelStats } from "../tunnel/end.ts";
import type { HubEnd } from "../tunnel/hub-end.ts";

/** A tunnel that an agent has dialled. */
export interface Tunnel {
  readonly end: HubEnd;
  /** Which agent: one that starts later has a greater one. */
  readonly epoch: number;
  /** As the agent says. */
  readonly version: string;
  /** Who talks TLS with its API server, as the agent says. */
  readonly tls: "Agent" | "EndToEnd";
  /** By which enrolment the agent was let in, and when the token of that was made, s since 1970. */
  readonly enrolment: string;
  readonly tokenIssued: number;
}

/** The tunnels of a hub. Of several with one agent, as while it leaves one for the next, the newest is used. */
export class Tunnels implements AsyncDisposable {
  readonly #changed: (key: ProxyKey) => void;
  /** The newest last. */
  readonly #byProxy = new Map<string, readonly Tunnel[]>();
  readonly #meter = new TunnelMeter();

  /** @param changed told of tunnels that come and go */
  constructor(changed: (key: ProxyKey) => void) {
    this.#changed = changed;
  }

  /** What can be used, the newest first. */
  of(key: ProxyKey): readonly Tunnel[] {
    return (this.#byProxy.get(proxyKeyText(key)) ?? []).filter(({ end }) => end.usable).reverse();
  }

  /** There is one more, until it has ended. */
  add(key: ProxyKey, tunnel: Tunnel): void {
    const text = proxyKeyText(key);
    this.#meter.opened();
    this.#byProxy.set(text, [...(this.#byProxy.get(text) ?? []), tunnel]);
    this.#changed(key);
    void tunnel.end.draining.then(() => this.#changed(key));
    void tunnel.end.closed.then(() => this.#remove(key, tunnel));
  }

  /** Ends those that are not good any more, and whatever is open through them. */
  end(key: ProxyKey, isOver: (tunnel: Tunnel) => boolean): void {
    for (const tunnel of this.#byProxy.get(proxyKeyText(key)) ?? [])
      if (isOver(tunnel)) void tunnel.end[Symbol.asyncDispose]();
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
    const text = proxyKeyText(key);
    this.#meter.ended(tunnel.end.stats);
    const rest = (this.#byProxy.get(text) ?? []).filter((one) => one !== tunnel);
    if (rest.length > 0) this.#byProxy.set(text, rest);
    else this.#byProxy.delete(text);
    this.#changed(key);
  }
}

/** What is counted of tunnels that have ended, and of all. */
class TunnelMeter {
  #opened = 0;
  readonly #ended = { streams: 0, read: 0, written: 0 };

  opened(): void {
    this.#opened += 1;
  }

  /** A tunnel has ended: what it has counted stays. */
  ended({ opened, read, written }: TunnelStats): void {
    this.#ended.streams += opened;
    this.#ended.read += read;
    this.#ended.written += written;
  }

  /** @param tunnels those that there are */
  families(tunnels: readonly TunnelStats[]): readonly MetricFamily[] {
    const sum = (of: (stats: TunnelStats) => number): number => tunnels.reduce((total, stats) => total + of(stats), 0);
    const { streams, read, written } = this.#ended;
    const slowest = Math.max(0, ...tunnels.map(({ heartbeat }) => heartbeat?.roundTrip ?? 0));
    return [
      gauge("clusterproxy_tunnels", "Tunnels that agents have open.", tunnels.length),
      counter("clusterproxy_tunnels_opened_total", "Tunnels that agents have opened.", this.#opened),
      gauge(
        "clusterproxy_tunnel_streams",
        "Connections that are open through tunnels.",
        sum((one) => one.streams),
      ),
      counter(
        "clusterproxy_tunnel_streams_opened_total",
        "Connections that were opened through tunnels.",
        streams + sum((one) => one.opened),
      ),
      {
        name: "clusterproxy_tunnel_bytes_total",
        help: "Bytes of tunnels, by whether they were sent to agents or came from them.",
        type: "counter",
        labelNames: ["direction"],
        samples: [
          { labels: ["received"], value: read + sum((one) => one.read) },
          { labels: ["sent"], value: written + sum((one) => one.written) },
        ],
      },
      gauge(
        "clusterproxy_tunnel_heartbeat_seconds",
        "How long the slowest of the agents took to answer last.",
        slowest / 1000,
      ),
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
