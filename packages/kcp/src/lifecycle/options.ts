import type { Client, EndpointFailure, FollowedUrls, ReconcileFailure } from "@virtual-workspaces/client";
import type { LogicalCluster } from "../core/logical-cluster.ts";
import type { WorkspaceType } from "../tenancy/workspace-type.ts";

/** A workspace that waits for its type's initializer or terminator. */
export interface WaitingWorkspace {
  /** The name of its logical cluster, which no other ever has. */
  readonly cluster: string;
  /** Its path, `root:org:team`; "" where it has none. */
  readonly path: string;
  /** As it was read from the view, with whose workspace it is and who else it waits for. */
  readonly logicalCluster: LogicalCluster;
  /**
   * Reaches what is in it, through the view: for what the type's `initializerPermissions` (`terminatorPermissions`) say, or, where
   * they say nothing, as the workspace's owner. Refused (403) once the workspace does not wait any more.
   */
  readonly client: Client;
  /** Aborts when the controller ends, or the shard goes: give it to every call. */
  readonly signal: AbortSignal;
}

/** What is done in a workspace that waits. */
export type WorkspaceWork = (workspace: WaitingWorkspace) => Promise<void>;

/** What {@link lifecycleController} is given. */
export interface LifecycleControllerOptions
  extends Pick<FollowedUrls<WorkspaceType>, "connect" | "rewrite" | "signal" | "clock"> {
  /**
   * Of the workspace that the type is in. Needs `get`, `list` and `watch` of the type there, and `initialize` and `terminate`, which
   * the views ask for. Not closed.
   */
  readonly client: Client;
  /** The type's name. */
  readonly type: string;
  /**
   * Sets a new workspace up; then it no longer waits for this type. Called again, for what may have been done half or whole, after
   * a failure, an end or a change, and by several replicas at a time: each step must be harmless when it is done again.
   *
   * @default new workspaces are left alone
   */
  readonly initialize?: WorkspaceWork;
  /** Cleans a workspace up that is deleted, before its content is; otherwise as {@link initialize}. @default they are left alone */
  readonly terminate?: WorkspaceWork;
  /** How many workspaces are worked on at a time, of those that are set up and of those that are cleaned up. @default 8 */
  readonly workers?: number;
  /** Told of every failure, of a shard or of a workspace. What it is of is tried again. */
  readonly onError: (failure: EndpointFailure | ReconcileFailure) => void;
}
