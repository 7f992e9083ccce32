// kcp's kinds have the types of their schemas.
import {
  LogicalCluster,
  type LogicalClusterPhase,
  Shard,
  Workspace,
  type WorkspaceStatus,
  WorkspaceType,
  type WorkspaceTypeReference,
} from "@virtual-workspaces/kcp";
import { type Condition, markTrue } from "@virtual-workspaces/kcp/conditions";

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only for `true`. */
type Expect<T extends true> = T;

export type Phases = Expect<
  Equals<
    LogicalClusterPhase,
    "Scheduling" | "Initializing" | "Ready" | "Unavailable" | "Inactive" | "Terminating" | "Deleting"
  >
>;
export type Reference = Expect<Equals<WorkspaceTypeReference, { name: string; path?: string }>>;
export type Status = Expect<
  Equals<
    WorkspaceStatus,
    { phase?: LogicalClusterPhase; conditions?: Condition[]; initializers?: string[]; terminators?: string[] }
  >
>;

const workspaces = Workspace.collection().in("root");
workspaces.set("team", { type: { name: "team" } });
const team = workspaces.get("team");
const reference: WorkspaceTypeReference | undefined = team?.spec.type;
const status: WorkspaceStatus = { ...team?.status, conditions: markTrue(team?.status?.conditions, "A", new Date()) };
workspaces.set("team", { ...(reference && { type: reference }) });
workspaces.setStatus("team", status);

// @ts-expect-error a phase that there is not
workspaces.setStatus("team", { phase: "Done" });
// @ts-expect-error a type is named
workspaces.set("team", { type: { path: "root" } });
// @ts-expect-error a field that there is not
workspaces.set("team", { shard: "one" });

const types = WorkspaceType.collection().in("root");
types.set("team", {});
types.set("team", { limitAllowedParents: { types: [{ name: "org", path: "root" }] } });
// @ts-expect-error that of a kind whose objects need no spec may be missing
export const lifecycle: string | undefined = types.get("team")?.spec.defaultAPIBindingLifecycle;

const shards = Shard.collection().in("root");
shards.set("one", { baseURL: "https://one" });
shards.setStatus("one", { capacity: { pods: 1, memory: "1Gi" } });
// @ts-expect-error what is set is the spec, also where it may be missing
shards.set("one", { spec: { baseURL: "https://one" } });
const clusters = LogicalCluster.collection().in("root");
// @ts-expect-error an owner is named completely
clusters.set("cluster", { owner: { name: "team" } });
