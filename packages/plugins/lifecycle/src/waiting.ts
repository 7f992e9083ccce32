import type { AuthorizeRequest, ServedResource } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { LogicalCluster } from "@virtual-workspaces/kcp";

/** Parameters in the path of a view. */
export interface LifecycleParams {
  /** Name of the initializer or terminator, `<logical cluster of the type>:<type>`. */
  readonly holder: string;
  readonly cluster: string;
}

/** Caller and workspace of a request. */
export type WorkspaceRequest = Pick<AuthorizeRequest<LifecycleParams>, "params" | "user" | "signal">;

/** Resources that a view serves to one controller. */
export interface WaitingLists {
  /** Resources for all workspaces at once. */
  readonly everywhere: readonly ServedResource[];
  /** Resources for one workspace. */
  readonly one: readonly ServedResource[];
}

/** Workspaces of a shard that wait for controllers of their types. */
export interface WaitingWorkspaces {
  /** Returns the resources for one controller, the same lists while they are in use. */
  of(holder: string): WaitingLists;
  /** Returns the workspace if it waits for the request's controller, else `undefined`. @throws ApiError 503 when this is unknown */
  find(asked: WorkspaceRequest): Awaitable<LogicalCluster | undefined>;
  /** Starts the required watches, until the result is disposed. */
  start(): AsyncDisposable;
  /** Resolves when these watches are synced. */
  ready(): Promise<void>;
}
