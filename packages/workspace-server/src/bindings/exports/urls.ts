import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { ROOT_CLUSTER, SHARD_NAME_LABEL, type Shard, viewURL } from "@virtual-workspaces/kcp";
import type { ShardContext } from "../../state/context.ts";

/** Where the view of an export is, on a shard whose views are at this URL. */
export function exportURL(virtualWorkspaceURL: string, { cluster, name }: Pick<ObjectKey, "cluster" | "name">): string {
  return viewURL(virtualWorkspaceURL, "apiexport", cluster, name);
}

/** A shard, as URLs are made of it. */
export interface PublishedShard {
  readonly labels: Readonly<Record<string, string>>;
  /** "" while it is not known. */
  readonly virtualWorkspaceURL: string;
  /** Where it runs in this process, what is on it. */
  readonly context: ShardContext | undefined;
}

/**
 * All shards of an installation: those that run here, and what their Shards in `root` say, which is what counts; by Shards alone
 * those that do not run for now, or run elsewhere.
 */
export function publishedShards(running: readonly ShardContext[]): PublishedShard[] {
  const known = new Map<string, Shard | undefined>(running.map(({ name }) => [name, undefined]));
  for (const { state } of running)
    for (const shard of state.shards.store.list(ROOT_CLUSTER)) known.set(shard.metadata.name ?? "", shard);
  return [...known].map(([name, shard]) => {
    const context = running.find((one) => one.name === name);
    const url = shard?.spec?.virtualWorkspaceURL ?? context?.urls.virtualWorkspaceURL ?? "";
    return {
      labels: { [SHARD_NAME_LABEL]: name, ...shard?.metadata.labels },
      virtualWorkspaceURL: URL.canParse(url) ? url : "",
      context,
    };
  });
}
