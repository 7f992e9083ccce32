/**
 * Front proxy like kcp's: one address for the workspaces of all shards, by path, and for servers of virtual workspaces.
 *
 * @module
 */

export { DROPPED_GROUPS, type GroupFilter } from "./callers.ts";
export { createFrontProxy, FrontProxy } from "./front-proxy.ts";
export { CLUSTERS_PATH, type Mapping } from "./mapping/mapping.ts";
export { readMapping } from "./mapping/read-mapping.ts";
export type { FrontProxyOptions } from "./options.ts";
export { manifests } from "./path-mappings/path-mappings.ts";
export type { FromIndex, ToIndex } from "./places/messages.ts";
export type { IndexConnection } from "./places/publisher.ts";
export { RemoteIndex, type RemoteIndexOptions } from "./places/remote-index.ts";
export { SharedIndex, type SharedIndexOptions } from "./places/shared-index.ts";
export { type MappedServicesOptions, mappedServices } from "./views/mapped-views.ts";
