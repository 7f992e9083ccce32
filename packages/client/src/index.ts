/**
 * Talking to Kubernetes-style API servers: typed resources by workspace path, watches, informers, controllers.
 *
 * @module
 */

export { Client, type ClientOptions, type Impersonation } from "./client.ts";
export { Discovery } from "./discovery/discovery.ts";
export type { DiscoveredKind } from "./discovery/kinds.ts";
export { impersonationHeaders } from "./impersonation-headers.ts";
export { loadKubeconfig } from "./kubeconfig/load.ts";
export type { KubeconfigOptions, LoadedKubeconfig } from "./kubeconfig/options.ts";
export type { AllOptions, CallOptions, GetOptions, ListOptions, SelectOptions, WatchOptions } from "./options/read.ts";
export type { RetryOptions } from "./options/retry.ts";
export type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  JsonPatchOperation,
  PatchOptions,
  WriteOptions,
} from "./options/write.ts";
export { keyOf } from "./resource/key.ts";
export type { ResourceList, WholeList } from "./resource/list.ts";
export { type Named, SubresourceClient } from "./resource/subresource-client.ts";
export type { ResourceEvent } from "./resource/watch.ts";
export { ResourceClient, type Scale } from "./resource-client.ts";
