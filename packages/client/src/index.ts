/**
 * Talking to Kubernetes-style API servers: typed resources by workspace path, watches, informers, controllers.
 *
 * @module
 */

export { Backoff, type BackoffOptions, type Clock, systemClock } from "@virtual-workspaces/transport";
export { Client, type ClientOptions, type Impersonation } from "./client.ts";
export { splitCluster } from "./cluster-url.ts";
export {
  Controller,
  type ControllerMetrics,
  type ControllerState,
  controller,
} from "./controller/controller.ts";
export type { DurationsSnapshot } from "./controller/durations.ts";
export { keyText } from "./controller/key.ts";
export {
  type ControllerOptions,
  type ControllerSource,
  type ReconcileContext,
  type ReconcileFailure,
  type ReconcileResult,
  type RelatedSource,
  related,
} from "./controller/options.ts";
export { type OwnerKeysOptions, ownerKeys } from "./controller/owner-keys.ts";
export type { RateLimitOptions } from "./controller/rate-limit.ts";
export type { Keyed, Source, SourceHandlers, SourceStore } from "./controller/source.ts";
export { isTerminal, TerminalError, terminal } from "./controller/terminal-error.ts";
export { Turns } from "./controller/turns.ts";
export { type AddOptions, WorkQueue, type WorkQueueMetrics, type WorkQueueOptions } from "./controller/work-queue.ts";
export { Discovery } from "./discovery/discovery.ts";
export type { DiscoveredKind } from "./discovery/kinds.ts";
export type { Endpoint, EndpointRun, EndpointStatus, RunningEndpoint } from "./endpoints/endpoint.ts";
export {
  type EndpointInformer,
  EndpointInformers,
  type EndpointInformersOptions,
  type EndpointSources,
  endpointInformers,
  type InformerFactories,
} from "./endpoints/endpoint-informers.ts";
export {
  type EndpointFailure,
  Endpoints,
  type FollowEndpointsOptions,
  type FollowedUrls,
  followEndpoints,
} from "./endpoints/endpoints.ts";
export type { EndpointSource } from "./endpoints/merged-source.ts";
export { type EndpointUrlsOptions, endpointUrls, type InvalidEndpoint } from "./endpoints/urls.ts";
export { errorOf, retryAfterOf } from "./http/error-of.ts";
export { orElse } from "./http/or-else.ts";
export { type CallerHeaders, impersonationHeaders, REMOTE_HEADERS, remoteHeaders } from "./impersonation-headers.ts";
export type { InformerEvent, InformerHandlers, LifecycleEvent, RelistReason } from "./informer/events.ts";
export { type FollowEvent, type FollowOptions, follow, type Slot } from "./informer/follow.ts";
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
export { type CertificateFiles, fileCredentials } from "./kubeconfig/file-credentials.ts";
export { loadKubeconfig } from "./kubeconfig/load.ts";
export type {
  KubeconfigContent,
  KubeconfigOptions,
  KubeconfigOverrides,
  LoadedKubeconfig,
} from "./kubeconfig/options.ts";
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
export { endable } from "./resource/endable.ts";
export { keyOf } from "./resource/key.ts";
export type { ResourceList, WholeList } from "./resource/list.ts";
export { type Named, SubresourceClient } from "./resource/subresource-client.ts";
export type { ResourceEvent } from "./resource/watch.ts";
export { type IdentityOptions, ResourceClient, type Scale } from "./resource-client.ts";
