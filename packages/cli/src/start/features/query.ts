import type { WorkspaceServerFeature } from "@virtual-workspaces/workspace-server";

/** Query views over the workspaces of each shard: `/services/query/clusters/<name or *>`. */
export const query: WorkspaceServerFeature = {
  name: "query",
  read: () => ({
    listed: false,
    views: async ({ workspaces, log }) => {
      const { queryView } = await import("@virtual-workspaces/query");
      const onError = (error: unknown, resource: string): void =>
        log({ level: "warn", message: "cannot follow resource for queries", resource, error: String(error) });
      return [queryView({ over: workspaces, onError })];
    },
  }),
};
