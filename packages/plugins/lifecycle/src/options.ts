import type { WorkspaceTypes, WorkspaceTypesOptions } from "./workspace-types.ts";

/** Options of {@link initializingWorkspacesView} and its sibling views, for the workspaces of one shard. */
export interface LifecycleViewOptions extends WorkspaceTypesOptions {
  /** Types, if several views share them. @default the view's own, for `upstream` and `cache` */
  readonly types?: WorkspaceTypes;
  /** Time for which a positive authorization is cached, in ms. @default 10000 */
  readonly allowCache?: number;
}
