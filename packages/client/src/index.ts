/**
 * Talking to Kubernetes-style API servers: typed resources by workspace path, watches, informers, controllers.
 *
 * @module
 */

export { Client, type ClientOptions, type Impersonation } from "./client.ts";
export { impersonationHeaders } from "./impersonation-headers.ts";
export type { GetOptions, ListOptions, WatchOptions } from "./options/read.ts";
export type { ApplyOptions, DeleteOptions, PatchOptions, WriteOptions } from "./options/write.ts";
export { ResourceClient, type ResourceList } from "./resource-client.ts";
