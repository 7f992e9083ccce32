import { Targets } from "@virtual-workspaces/framework/proxy";
import type { FoundCluster, FoundWorkspace, PathIndex } from "@virtual-workspaces/kcp/path-index";
import { TargetServer, type TargetServerOptions } from "./target-server.ts";

/** How shards are told who asks: all but their URLs. */
export interface ShardServersOptions extends Pick<TargetServerOptions, "headers" | "onError"> {
  readonly upstream: Omit<TargetServerOptions["upstream"], "url">;
}

const WHAT = "the shard of this workspace";
/** More shards than there are. */
const MOST = 10_000;

/** The shards as requests are passed on to them. What goes on at one ends when it is elsewhere, or is none any more. */
export class ShardServers implements AsyncDisposable {
  readonly #options: ShardServersOptions;
  readonly #index: PathIndex;
  readonly #servers = new Targets<TargetServer>({ isActive: (server) => server.isActive, most: MOST });

  constructor(options: ShardServersOptions, index: PathIndex) {
    this.#options = options;
    this.#index = index;
  }

  /** The one that has a logical cluster, or a Workspace object; `undefined` where it is not known any more. */
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

  /** A shard has come, gone, or is elsewhere. */
  changed(shard: string): void {
    this.#servers.delete(shard, this.#index.shard(shard)?.baseURL);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#servers[Symbol.asyncDispose]();
  }
}
