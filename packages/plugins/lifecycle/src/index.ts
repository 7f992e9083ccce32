/**
 * kcp's views of workspaces that begin and end: what waits for a WorkspaceType's own controllers, for these. And one of those that
 * are used already, and are to be prepared.
 *
 * @module
 */

export { initializingWorkspacesView, preparingWorkspacesView, terminatingWorkspacesView } from "./lifecycle-view.ts";
export type { LifecycleViewOptions } from "./options.ts";
export { PREPARES_ANNOTATION, preparedLabel } from "./preparing/preparing-types.ts";
export { WorkspaceTypes, type WorkspaceTypesOptions } from "./workspace-types.ts";
