import { Targets } from "@virtual-workspaces/framework/proxy";
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
  readonly #urlOf: (shard: string) => string | undefined;
  readonly #servers = new Targets<TargetServer>({ isActive: (server) => server.isActive, most: MOST });

  /** @param urlOf returns the URL of a shard */
  constructor(options: ShardServersOptions, urlOf: (shard: string) => string | undefined) {
    this.#options = options;
    this.#urlOf = urlOf;
  }

  /** Returns a shard; `undefined` if it is unknown. */
  of(shard: string): TargetServer | undefined {
    const url = this.#urlOf(shard);
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
    this.#servers.delete(shard, this.#urlOf(shard));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#servers[Symbol.asyncDispose]();
  }
}
