/**
 * kcp's views of initializing and terminating workspaces, for the controllers of their WorkspaceTypes, and a view of Ready
 * workspaces that a type prepares.
 *
 * @module
 */

export { initializingWorkspacesView, preparingWorkspacesView, terminatingWorkspacesView } from "./lifecycle-view.ts";
export type { LifecycleViewOptions } from "./options.ts";
export { PREPARES_ANNOTATION, preparedLabel } from "./preparing/preparing-types.ts";
export { WorkspaceTypes, type WorkspaceTypesOptions } from "./workspace-types.ts";
