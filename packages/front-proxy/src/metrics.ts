import type { MetricFamily } from "@virtual-workspaces/framework";
import type { Routes } from "./passing/routes.ts";
import type { ShardState, Shards } from "./shards/shards.ts";
import type { Places } from "./views/places.ts";

/** How the index stands to the shards (kcp's `kcp_indexed_logicalclusters` among it), and how servers behind paths are. */
export function proxyFamilies(clusters: IndexedPlaces | undefined, routes: Routes): readonly MetricFamily[] {
  const indexed = clusters && [...shardFamilies(clusters.shards.states), refusedFamily(clusters.places)];
  return [...(indexed ?? []), backendFamily(routes)];
}

/** What is told of workspaces. */
export interface IndexedPlaces {
  readonly shards: Pick<Shards, "states">;
  readonly places: Pick<Places, "refused">;
}

function refusedFamily({ refused }: IndexedPlaces["places"]): MetricFamily {
  return {
    name: "virtual_workspaces_unreachable_requests_total",
    type: "counter",
    help: "Requests for paths that lead nowhere: unknown, not there yet (pending), or deleted (gone).",
    labelNames: ["kind"],
    samples: Object.entries(refused).map(([kind, value]) => ({ labels: [kind], value })),
  };
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
