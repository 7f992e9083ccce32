// The index of workspace paths, fed as from watches.
import assert from "node:assert/strict";
import { indexedLogicalCluster, indexedWorkspace, PathIndex } from "@virtual-workspaces/kcp/path-index";
import { serveCommands } from "../_harness/commands.ts";
import { type Known, lookedUp } from "../_harness/looked-up.ts";
import { baseURLOf, shardNames } from "./simulated-workspaces.ts";
import type { Change } from "./workspace-changes.ts";

const index = new PathIndex();
for (const name of shardNames) index.setShard(name, { baseURL: baseURLOf(name) });

const known: Known = {
  fill: ({ workspace, logicalCluster }) => {
    if (workspace !== undefined) index.setWorkspace(workspace.shard, workspace.said);
    if (logicalCluster !== undefined) index.setLogicalCluster(logicalCluster.shard, logicalCluster.said);
  },
  apply: (change) => {
    for (const event of change.events) hear(event);
    assert.equal(index.lookup(change.path).kind, change.kind, change.path);
  },
  find: (path) => {
    const found = index.lookup(path);
    if (found.kind === "mount") return found.url;
    return found.kind === "cluster" ? found.cluster : undefined;
  },
};

function hear({ shard, type, object }: Change["events"][number]): void {
  const workspace = object.kind === "Workspace" ? indexedWorkspace(object) : undefined;
  const cluster = object.kind === "LogicalCluster" ? indexedLogicalCluster(object) : undefined;
  if (workspace !== undefined && type === "DELETED") index.deleteWorkspace(shard, workspace);
  else if (workspace !== undefined) index.setWorkspace(shard, workspace);
  if (cluster !== undefined && type === "DELETED") index.deleteLogicalCluster(shard, cluster.name);
  else if (cluster !== undefined) index.setLogicalCluster(shard, cluster);
}

serveCommands(lookedUp(known));
