/**
 * Client for Kubernetes-style API servers: typed resources by workspace path, watches, informers, controllers.
 *
 * @module
 */

export { isApiError } from "@virtual-workspaces/apimachinery";
export { Backoff, type BackoffOptions, type Clock, systemClock } from "@virtual-workspaces/transport";
export { Client, type ClientOptions } from "./client.ts";
export { Controller, type ControllerMetrics, type ControllerState, controller } from "./controller/controller.ts";
export {
  type ControllerOptions,
  type ControllerSource,
  type ReconcileContext,
  type ReconcileFailure,
  type ReconcileResult,
  type RelatedSource,
  related,
} from "./controller/controller-options.ts";
export type { DurationsSnapshot } from "./controller/durations.ts";
export { isTerminal, TerminalError, terminal } from "./controller/failure.ts";
export type { RateLimitOptions } from "./controller/rate-limit.ts";
export { ownerKeys } from "./controller/source.ts";
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
export { IncompleteStream, UpstreamFault } from "./informer/checked.ts";
export type {
  InformerEvent,
  InformerHandlers,
  InformerMetrics,
  LifecycleEvent,
  RelistReason,
} from "./informer/events.ts";
export { type FollowEvent, type FollowOptions, follow, type Slot } from "./informer/follow.ts";
export { type EventsOptions, Informer } from "./informer/informer.ts";
export {
  type InformerOptions,
  type InformerProblem,
  type ReflectorOptions,
  withoutManagedFields,
} from "./informer/informer-options.ts";
export {
  type InformerLease,
  type SharedInformerOptions,
  SharedInformers,
  type SharedInformersOptions,
} from "./informer/shared-informers.ts";
export type { Indexer, KeyLike, Store } from "./informer/store.ts";
export type {
  KubeconfigContent,
  KubeconfigOptions,
  KubeconfigOverrides,
  LoadedKubeconfig,
} from "./kubeconfig/config.ts";
export { type CertificateFiles, fileCredentials } from "./kubeconfig/credentials.ts";
export { loadKubeconfig } from "./kubeconfig/load.ts";
export type {
  AllOptions,
  ApplyOptions,
  CallOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  JsonPatchOperation,
  ListOptions,
  PatchOptions,
  SelectOptions,
  WatchOptions,
  WriteOptions,
} from "./resource/call-options.ts";
export type { ResourceList, WholeList } from "./resource/list.ts";
export { keyOf } from "./resource/location.ts";
export { type IdentityOptions, ResourceClient, type Scale } from "./resource/resource-client.ts";
export { type Named, SubresourceClient } from "./resource/subresource-client.ts";
export type { ResourceEvent } from "./resource/watch.ts";
