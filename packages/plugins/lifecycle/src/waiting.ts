import type { AuthorizeRequest, ServedResource } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { LogicalCluster } from "@virtual-workspaces/kcp";

/** What the path of a view says. */
export interface LifecycleParams {
  /** `<logical cluster of the type>:<type>`. */
  readonly holder: string;
  readonly cluster: string;
}

/** Who asks for which workspace. */
export type WorkspaceRequest = Pick<AuthorizeRequest<LifecycleParams>, "params" | "user" | "signal">;

/** What is served to those who are waited for. */
export interface WaitingLists {
  /** Of all workspaces at once. */
  readonly everywhere: readonly ServedResource[];
  /** In one. */
  readonly one: readonly ServedResource[];
}

/** The workspaces of a shard that wait for controllers of their types. */
export interface WaitingWorkspaces {
  /** Those that wait for one controller: the same lists as long as they are asked for. */
  of(holder: string): WaitingLists;
  /** One that waits for the controller that asks; `undefined` when it does not. @throws ApiError 503 when nobody knows */
  find(asked: WorkspaceRequest): Awaitable<LogicalCluster | undefined>;
  /** Begins to follow what has to be known beforehand, until that is disposed of. */
  start(): AsyncDisposable;
  /** Resolves once that is known. */
  ready(): Promise<void>;
}
