import type { MetricFamily } from "@virtual-workspaces/framework";
import type { TunnelStats } from "../tunnel/end.ts";

/** What is counted of tunnels that have ended, and of all. */
export class TunnelMeter {
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
