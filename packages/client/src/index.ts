/**
 * Talking to Kubernetes-style API servers: typed resources by workspace path, watches, informers, controllers.
 *
 * @module
 */

export { Client, type ClientOptions, type Impersonation } from "./client.ts";
export { impersonationHeaders } from "./impersonation-headers.ts";
export type { BackoffOptions } from "./informer/backoff.ts";
export type { InformerEvent, InformerHandlers, LifecycleEvent, RelistReason } from "./informer/events.ts";
export { type EventsOptions, Informer } from "./informer/informer.ts";
export type { InformerMetrics } from "./informer/metrics.ts";
export {
  type InformerOptions,
  type InformerProblem,
  type ReflectorOptions,
  withoutManagedFields,
} from "./informer/options.ts";
export {
  type InformerLease,
  type SharedInformerOptions,
  SharedInformers,
  type SharedInformersOptions,
} from "./informer/shared-informers.ts";
export type { KeyLike, Store } from "./informer/store.ts";
export type { Indexer } from "./informer/store-index.ts";
export { IncompleteStream, UpstreamFault } from "./informer/upstream-fault.ts";
export type { GetOptions, ListOptions, WatchOptions } from "./options/read.ts";
export type { ApplyOptions, DeleteOptions, PatchOptions, WriteOptions } from "./options/write.ts";
export { ResourceClient, type ResourceList } from "./resource-client.ts";
