import type { WorkspaceTypes, WorkspaceTypesOptions } from "./workspace-types.ts";

/** What {@link initializingWorkspacesView} and those beside it are over: the workspaces of one shard. */
export interface LifecycleViewOptions extends WorkspaceTypesOptions {
  /** The types, where views share them: followed once, and kept once. @default the view's own, of `upstream` and `cache` */
  readonly types?: WorkspaceTypes;
  /** How long callers are believed to be allowed what they were, ms. @default 10000 */
  readonly allowCache?: number;
}
