// Logical clusters and workspaces that are there before the server is, as they would be after a restart.
import { LogicalCluster, type LogicalCluster as LogicalClusterObject, Workspace } from "@virtual-workspaces/kcp";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { ensure } from "../../../packages/workspace-server/src/state/modify.ts";
import { ShardObjects } from "../../../packages/workspace-server/src/state/objects.ts";

export interface Seed {
  /** Below `root`. */
  readonly workspace: string;
  readonly cluster: string;
  readonly phase?: string;
}

/** A store in which `root` has workspaces. */
export async function seeded(...seeds: readonly Seed[]): Promise<Store> {
  const store = memoryStore();
  using objects = new ShardObjects(store);
  for (const { workspace, cluster, phase = "Ready" } of seeds) {
    const annotations = { "kcp.io/path": `root:${workspace}` };
    await ensure(objects.of(LogicalCluster), { cluster, namespace: "", name: "cluster" }, () => ({
      metadata: { annotations },
      spec: {
        owner: {
          apiVersion: "tenancy.kcp.io/v1alpha1",
          resource: "workspaces",
          name: workspace,
          cluster: "root",
          uid: "",
        },
      },
      status: { phase: phase === "Unavailable" ? "Ready" : phase } as NonNullable<LogicalClusterObject["status"]>,
    }));
    await ensure(objects.of(Workspace), { cluster: "root", namespace: "", name: workspace }, () => ({
      spec: { cluster, URL: `https://x/clusters/root:${workspace}` },
      status: { phase } as never,
    }));
  }
  return store;
}
