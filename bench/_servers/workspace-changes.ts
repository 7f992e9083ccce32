// What shards say while workspaces come, change and go: a line for each change, at a steady pace, to whoever is connected.
import { createServer, type Socket } from "node:net";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { IndexedLogicalCluster, IndexedWorkspace, Lookup } from "@virtual-workspaces/kcp/path-index";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { simulated } from "./simulated-workspaces.ts";
import { sharedNow as now } from "./tick.ts";

/** One change, and what is seen by whom it has reached. */
export interface Change {
  /** ms, of the clock that all processes share. */
  readonly sent: number;
  readonly path: string;
  readonly kind: Lookup["kind"];
  readonly leadsTo: string;
  readonly shard: string;
  /** What the shards say: events of a watch, and of which shard. */
  readonly events: readonly {
    readonly shard: string;
    readonly type: "ADDED" | "MODIFIED" | "DELETED";
    readonly object: KubeObject;
  }[];
}

interface Stream {
  readonly workspaces: number;
  readonly perSecond: number;
  readonly followers: number;
}

/** ms between two writes. */
const PACE = 2;
/** Each workspace goes through these, one change for each. */
const STAGES = [
  ["ADDED", "Ready"],
  ["MODIFIED", "Unavailable"],
  ["MODIFIED", "Ready"],
  ["DELETED", "Ready"],
] as const;
const TIME = "2026-11-21T10:00:00Z";
const connected = new Set<Socket>();

const commands = {
  /** Changes of workspaces beyond `workspaces`, once all followers are connected: each needs the first change of a workspace. @returns the port */
  listen: ({ workspaces, perSecond, followers }: Stream): Promise<number> => {
    let made = 0;
    let began = 0;
    setInterval(() => {
      if (made === 0) began = now();
      const due = made === 0 && connected.size < followers ? 0 : Math.ceil(((now() - began) * perSecond) / 1000) - made;
      const lines = Array.from({ length: due }, () => `${JSON.stringify(change(workspaces, made++))}\n`).join("");
      for (const socket of connected) socket.write(lines);
    }, PACE);
    return listen(createServer((socket) => connected.add(socket.on("close", () => connected.delete(socket)))));
  },
};

function change(workspaces: number, at: number): Change {
  const { path, leadsTo, workspace, logicalCluster } = simulated(workspaces + Math.floor(at / STAGES.length));
  if (workspace === undefined) throw new Error("the root does not change");
  const [type, phase] = STAGES[at % STAGES.length] ?? STAGES[0];
  const events = [{ shard: workspace.shard, type, object: workspaceObject(workspace.said, phase) }];
  if (logicalCluster !== undefined && type !== "MODIFIED")
    events.push({ shard: logicalCluster.shard, type, object: logicalClusterObject(logicalCluster.said) });
  const found = logicalCluster === undefined ? "mount" : "cluster";
  const kind = type === "DELETED" ? "gone" : phase === "Unavailable" ? "unavailable" : found;
  return { sent: now(), path, kind, leadsTo, shard: logicalCluster?.shard ?? workspace.shard, events };
}

function workspaceObject({ cluster, name, target, mountURL }: IndexedWorkspace, phase: string): KubeObject {
  const mount = { ref: { apiVersion: "mounts.example/v1", kind: "Cluster", name } };
  const conditions = ["WorkspaceScheduled", "WorkspaceInitialized", "APIBindingsInitialized"];
  return {
    apiVersion: "tenancy.kcp.io/v1alpha1",
    kind: "Workspace",
    metadata: {
      ...{ name, uid: `5e0c6f0a-93f4-4a0e-8d3b-${name.slice(-12)}`, resourceVersion: "4711", generation: 3 },
      annotations: { "kcp.io/cluster": cluster, "internal.tenancy.kcp.io/cluster": target ?? "" },
      creationTimestamp: TIME,
    },
    spec:
      target === undefined ? { mount, URL: mountURL } : { cluster: target, type: { name: "universal", path: "root" } },
    status: { phase, conditions: conditions.map((type) => ({ type, status: "True", lastTransitionTime: TIME })) },
  };
}

function logicalClusterObject({ name, path = "", type = "" }: IndexedLogicalCluster): KubeObject {
  const annotations = { "kcp.io/cluster": name, "kcp.io/path": path, "internal.tenancy.kcp.io/type": type };
  return {
    apiVersion: "core.kcp.io/v1alpha1",
    kind: "LogicalCluster",
    metadata: { name: "cluster", annotations, resourceVersion: "4712", creationTimestamp: TIME },
    spec: {},
    status: { phase: "Ready" },
  };
}

export type WorkspaceChanges = typeof commands;

serveCommands(commands);
