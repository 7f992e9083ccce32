import { Targets } from "@virtual-workspaces/framework/proxy";
import type { FoundCluster, FoundWorkspace, PathIndex } from "@virtual-workspaces/kcp/path-index";
import { TargetServer, type TargetServerOptions } from "./target-server.ts";

/** Settings of the connections to shards, except their URLs. */
export interface ShardServersOptions extends Pick<TargetServerOptions, "headers" | "onError"> {
  readonly upstream: Omit<TargetServerOptions["upstream"], "url">;
}

const WHAT = "the shard of this workspace";
/** Cache size, larger than any number of shards. */
const MOST = 10_000;

/** Shards as targets of requests. Requests to a shard end when its URL changes or the shard is removed. */
export class ShardServers implements AsyncDisposable {
  readonly #options: ShardServersOptions;
  readonly #index: PathIndex;
  readonly #servers = new Targets<TargetServer>({ isActive: (server) => server.isActive, most: MOST });

  constructor(options: ShardServersOptions, index: PathIndex) {
    this.#options = options;
    this.#index = index;
  }

  /** Returns the shard of a logical cluster or Workspace object; `undefined` if the shard is unknown. */
  of({ shard }: Pick<FoundCluster | FoundWorkspace, "shard">): TargetServer | undefined {
    const url = this.#index.shard(shard)?.baseURL;
    if (url === undefined) return undefined;
    const { upstream, headers, onError } = this.#options;
    return this.#servers.of(
      shard,
      url,
      () => new TargetServer({ upstream: { ...upstream, url }, headers, onError, what: WHAT }),
    );
  }

  /** Drops the connections of a shard that was added, removed or changed its URL. */
  changed(shard: string): void {
    this.#servers.delete(shard, this.#index.shard(shard)?.baseURL);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#servers[Symbol.asyncDispose]();
  }
}
