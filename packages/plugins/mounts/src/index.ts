/**
 * Workspaces that are mounted: other API servers, other workspaces and redirects in the tree of workspaces.
 *
 * @module
 */

export { type MountAdmissionOptions, mountAdmission } from "./admission/mount-admission.ts";
export type { MountWebhook } from "./admission/webhook.ts";
export { type MountedServers, type MountReachOptions, mountedServers } from "./dial/mounted-servers.ts";
export type { Lookup } from "./dial/restricted-dial.ts";
export { type MountManifestsOptions, mountManifests } from "./manifests.ts";
export { type RedirectMountOptions, redirectMount } from "./types/redirect.ts";
export { urlMount } from "./types/url.ts";
export { workspaceMount } from "./types/workspace.ts";
export { mountsView } from "./view/mounts-view.ts";
export type { MountsViewOptions } from "./view/options.ts";
export { WorkspaceMounts, type WorkspaceMountsOptions, workspaceMounts } from "./workspaces/index.ts";
