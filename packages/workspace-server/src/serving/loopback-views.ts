import type { ServerOptions } from "@virtual-workspaces/framework";
import { type CacheViewOptions, cacheView } from "../views/cache-view.ts";
import type { ownViews } from "./listener.ts";

/**
 * What a server serves to views of its own: its logical clusters, and below `/services/cache` what the shards tell one another,
 * since a view of one shard may be about what is on another.
 */
export function loopbackViews(
  { virtualWorkspaces, impersonation }: ReturnType<typeof ownViews>,
  options: CacheViewOptions,
): Pick<ServerOptions, "virtualWorkspaces" | "impersonation" | "log"> {
  return { virtualWorkspaces: [...virtualWorkspaces, cacheView(options)], impersonation, log: options.log };
}
