import type { Authenticator } from "@virtual-workspaces/framework";
import type { MetricFamily } from "@virtual-workspaces/framework/server";
import type { WorkspaceAuthentication } from "@virtual-workspaces/kcp/authentication";
import { type ShardState, Shards, type ShardsOptions } from "../shards/shards.ts";
import { type Place, type Places, placeOf } from "./places.ts";

/** Options of {@link OwnPlaces}. */
export interface OwnPlacesOptions extends Omit<ShardsOptions, "logins"> {
  readonly authentication: WorkspaceAuthentication | undefined;
}

/** Places from an index that this process fills from the shards. */
export class OwnPlaces implements Places {
  readonly shards: Shards;
  readonly #authentication: WorkspaceAuthentication | undefined;

  /** @param changed called for a shard that is added, removed, or changes its URL */
  constructor({ authentication, ...options }: OwnPlacesOptions, changed: (shard: string) => void) {
    this.#authentication = authentication;
    this.shards = new Shards({ ...options, logins: authentication }, changed);
  }

  get started(): Promise<void> {
    return this.shards.started;
  }

  check(): void {
    this.shards.check();
  }

  lookup(path: string): Place {
    return placeOf(this.shards.index.lookup(path), () => this.shards.isWhole);
  }

  shardOf(cluster: string): string | undefined {
    return this.shards.index.shardOf(cluster);
  }

  shardURL(shard: string): string | undefined {
    return this.shards.index.shard(shard)?.baseURL;
  }

  isOwn(origin: string): boolean {
    return this.shards.isOwn(origin);
  }

  logins(path: string): readonly Authenticator[] {
    const found = this.shards.index.lookup(path);
    const logins = found.kind === "cluster" ? this.#authentication?.of(found) : undefined;
    return logins === undefined ? [] : [logins];
  }

  families(): readonly MetricFamily[] {
    return shardFamilies(this.shards.states);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shards[Symbol.asyncDispose]();
  }
}

function shardFamilies(states: readonly ShardState[]): readonly MetricFamily[] {
  return [
    {
      name: "kcp_indexed_logicalclusters",
      type: "gauge",
      help: "Logical clusters in the index, by shard.",
      labelNames: ["shard"],
      samples: states.map(({ name, logicalClusters }) => ({ labels: [name], value: logicalClusters })),
    },
    {
      name: "virtual_workspaces_index_lag_seconds",
      type: "gauge",
      help: "Age of the index of a shard's workspaces: time since the last event or bookmark of the shard.",
      labelNames: ["shard"],
      samples: states.map(({ name, lag }) => ({ labels: [name], value: lag })),
    },
  ];
}
