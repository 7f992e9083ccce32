/** How a shard is reached (`Shard.spec`), without trailing slashes. */
export interface ShardUrls {
  /** By other shards and the front proxy. */
  readonly baseURL: string;
  /** By users: workspaces say that they are there. */
  readonly externalURL: string;
  /** Where its virtual workspaces are. */
  readonly virtualWorkspaceURL: string;
}
