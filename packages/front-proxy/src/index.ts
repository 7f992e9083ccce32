/**
 * Front proxy like kcp's: one address for the workspaces of all shards, by path, and for servers of virtual workspaces.
 *
 * @module
 */

export { DROPPED_GROUPS, type GroupFilter } from "./callers.ts";
export { createFrontProxy, FrontProxy } from "./front-proxy.ts";
export type { Mapping } from "./mapping/mapping.ts";
export { readMapping } from "./mapping/read-mapping.ts";
export type { FrontProxyOptions } from "./options.ts";
export { manifests } from "./path-mappings/path-mappings.ts";
export { type MappedServicesOptions, mappedServices } from "./views/mapped-views.ts";
