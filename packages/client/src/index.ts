/**
 * Talking to Kubernetes-style API servers: typed resources by workspace path, watches, informers, controllers.
 *
 * @module
 */

export { Client, type ClientOptions, type Impersonation } from "./client.ts";
export { type Clock, systemClock } from "./controller/clock.ts";
export {
  Controller,
  type ControllerMetrics,
  type ControllerState,
  controller,
} from "./controller/controller.ts";
export type { DurationsSnapshot } from "./controller/durations.ts";
export { keyOf, keyText } from "./controller/key.ts";
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
export type { Source, SourceHandlers, SourceStore } from "./controller/source.ts";
export { isTerminal, TerminalError, terminal } from "./controller/terminal-error.ts";
export { type AddOptions, WorkQueue, type WorkQueueMetrics, type WorkQueueOptions } from "./controller/work-queue.ts";
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
export { endpointUrls, type InvalidEndpoint } from "./endpoints/urls.ts";
export { impersonationHeaders } from "./impersonation-headers.ts";
export type { GetOptions, ListOptions, WatchOptions } from "./options/read.ts";
export type { ApplyOptions, DeleteOptions, PatchOptions, WriteOptions } from "./options/write.ts";
export { ResourceClient, type ResourceList } from "./resource-client.ts";
