import type { MetricFamily } from "@virtual-workspaces/framework";
import type { Routes } from "./passing/routes.ts";
import type { ShardState, Shards } from "./shards/shards.ts";

/** How the index stands to the shards (kcp's `kcp_indexed_logicalclusters` among it), and how servers behind paths are. */
export function proxyFamilies(shards: Shards | undefined, routes: Routes): readonly MetricFamily[] {
  return [...(shards === undefined ? [] : shardFamilies(shards.states)), backendFamily(routes)];
}

function shardFamilies(states: readonly ShardState[]): readonly MetricFamily[] {
  return [
    {
      name: "kcp_indexed_logicalclusters",
      type: "gauge",
      help: "Logical clusters that are known, by shard.",
      labelNames: ["shard"],
      samples: states.map(({ name, logicalClusters }) => ({ labels: [name], value: logicalClusters })),
    },
    {
      name: "virtual_workspaces_index_lag_seconds",
      type: "gauge",
      help: "How old what is known of a shard's workspaces may be: since when the shard has given no sign of life.",
      labelNames: ["shard"],
      samples: states.map(({ name, lag }) => ({ labels: [name], value: lag })),
    },
  ];
}

function backendFamily(routes: Routes): MetricFamily {
  return {
    name: "virtual_workspaces_backend_ready",
    type: "gauge",
    help: "Whether a server behind a path is asked, where there are several.",
    labelNames: ["path", "backend"],
    samples: routes.all.flatMap(({ path, states }) =>
      states.map(({ url, isReady }) => ({ labels: [path, url], value: isReady ? 1 : 0 })),
    ),
  };
}
