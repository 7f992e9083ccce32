import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Listening, ListenOptions } from "@virtual-workspaces/framework/server";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { Store } from "@virtual-workspaces/store";
import type { Loopback } from "../loopback/loopback.ts";
import type { ShardUrls } from "../shard-urls.ts";

/** What {@link ShardsOptions.storeOf} is told. */
export interface ShardStoreContext {
  /** What is put on it is disposed of when the shard has stopped: the store, if it is not to stay open. */
  readonly own: AsyncDisposableStack;
  /** Aborts when the server closes meanwhile. */
  readonly signal: AbortSignal;
}

/** What {@link ShardsOptions.virtualWorkspaces} is told. */
export interface ShardViewsContext extends ShardStoreContext {
  /** Controllers that send requests to the shard. They are disposed of before its listener closes, so that it answers their last requests. */
  readonly controllers: AsyncDisposableStack;
  /**
   * The shard's own workspaces, as they are at its address: by `*` its own alone, and of others 429. It answers once the shard
   * and `root` have started, and is closed with it.
   */
  readonly loopback: Loopback;
  /** Where the shard listens, once it does; never, if it does not come to that. */
  readonly listening: Promise<Listening>;
}

/** The shards that a server runs besides `root`, each with a store and a listener of its own. */
export interface ShardsOptions {
  /**
   * Shards that there are in any case, `shard-1` for one. Others there are by their Shard objects in `root` with the
   * annotation `virtual-workspaces.io/in-process: "true"`: who may create these there has the server keep objects and listen.
   *
   * @default none
   */
  readonly names?: readonly string[];
  /**
   * Opens where the objects of a shard are kept: each time that it starts, and always the same place for the same name, which
   * is as the name of any object: lower-case letters, digits, dashes and dots, no slash. Two shards must never share one. A throw is told
   * in the shard's condition `Ready`, and it is tried again.
   */
  readonly storeOf: (name: string, context: ShardStoreContext) => Awaitable<Store>;
  /** Where a shard listens; where the port is taken, at any free one. @default any free port, on the host of the server */
  readonly listen?: (name: string) => ListenOptions;
  /** How a shard is reached, from where it listens. @default there; by users (`externalURL`) at the server */
  readonly urls?: (name: string, listening: Listening) => Partial<ShardUrls>;
  /**
   * Served by a shard besides, below `/services`; made anew each time that it starts. Where APIExportEndpointSlices have a URL
   * for each shard, clients ask a view at all of them, and are to find there what is on that shard. A throw is as one of `storeOf`.
   *
   * @default nothing
   */
  readonly virtualWorkspaces?: (name: string, context: ShardViewsContext) => Awaitable<readonly VirtualWorkspace[]>;
}
