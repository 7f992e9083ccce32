import type { WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";

/** Query views over workspaces, `/services/query/clusters/<name or *>`: of all shards at the address of the server, of one shard at its own. */
export const query: WorkspaceServerFeature = {
  name: "query",
  read: () => ({
    listed: false,
    views: async ({ workspaces, shards, log }) => {
      const { queryView } = await import("@virtual-workspaces/query");
      const onError = (error: unknown, resource: string): void =>
        log({ level: "warn", message: "cannot follow resource for queries", resource, error: String(error) });
      return [queryView({ over: workspaces, shards, onError })];
    },
  }),
};
