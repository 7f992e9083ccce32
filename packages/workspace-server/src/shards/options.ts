import type { VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Listening, ListenOptions } from "@virtual-workspaces/framework/server";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { Store } from "@virtual-workspaces/store";
import type { Loopback } from "../loopback/loopback.ts";
import type { ShardUrls } from "../shard-urls.ts";

/** Context of {@link ShardsOptions.storeOf}. */
export interface ShardStoreContext {
  /** Resources to dispose of when the shard has stopped, for example the store. */
  readonly own: AsyncDisposableStack;
  /** Aborts when the server closes during the start. */
  readonly signal: AbortSignal;
}

/** Context of {@link ShardsOptions.virtualWorkspaces}. */
export interface ShardViewsContext extends ShardStoreContext {
  /** Controllers that send requests to the shard. They stop before its listener closes, which answers their last requests. */
  readonly controllers: AsyncDisposableStack;
  /**
   * Workspaces of the shard as at its address: `*` means its own only, and other shards' workspaces are 429. It answers once
   * the shard and `root` have started, and closes with the shard.
   */
  readonly loopback: Loopback;
  /** Resolves when the shard listens; never, if it fails to start. */
  readonly listening: Promise<Listening>;
}

/** Shards that a server runs besides `root`, each with its own store and listener. */
export interface ShardsOptions {
  /**
   * Shards that always exist, for example `shard-1`. Shard objects in `root` with `virtual-workspaces.io/in-process: "true"`
   * add others. Security: users who may create these make the server listen and store objects.
   *
   * @default none
   */
  readonly names?: readonly string[];
  /**
   * Opens the store of a shard, at each start: the same one for the same name. A name is an object's: lower-case letters,
   * digits, dashes and dots, no slash. Shards must not share a store. Errors go into the condition `Ready`, with a retry.
   */
  readonly storeOf: (name: string, context: ShardStoreContext) => Awaitable<Store>;
  /** Address of a shard's listener; any free port if that one is taken. @default any free port, on the server's host */
  readonly listen?: (name: string) => ListenOptions;
  /** URLs of a shard, from its listening address. @default that address; `externalURL` is the server's */
  readonly urls?: (name: string, listening: Listening) => Partial<ShardUrls>;
  /**
   * Creates the shard's views below `/services`, at each start. Where APIExportEndpointSlices list a URL per shard, clients
   * call the view at each, and expect that shard's content. Errors are handled like those of `storeOf`.
   *
   * @default none
   */
  readonly virtualWorkspaces?: (name: string, context: ShardViewsContext) => Awaitable<readonly VirtualWorkspace[]>;
}
