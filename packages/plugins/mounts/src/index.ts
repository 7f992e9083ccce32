/**
 * Mounted workspaces: other API servers, other workspaces and redirects in the workspace tree.
 *
 * @module
 */

export { type MountAdmissionOptions, mountAdmission } from "./admission/mount-admission.ts";
export { type Lookup, type MountedServers, type MountReachOptions, mountedServers } from "./dial/restricted-dial.ts";
export { type MountManifestsOptions, type MountWebhook, mountManifests } from "./manifests.ts";
export { urlMount } from "./types/url.ts";
export { type RedirectMountOptions, redirectMount, workspaceMount } from "./types/workspace-types.ts";
export { mountsView } from "./view/mounts-view.ts";
export type { MountsViewOptions } from "./view/options.ts";
export { WorkspaceMounts, type WorkspaceMountsOptions, workspaceMounts } from "./workspaces/workspace-mounts.ts";
