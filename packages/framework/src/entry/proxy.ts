/**
 * Proxying of requests to upstreams, and the responses when an upstream fails.
 *
 * @module
 */

export { type AskedUpstream, causeOfFault, lostWrite, upstreamFailure, upstreamFault } from "../proxy/failure.ts";
export { FailureStreaks } from "../proxy/failure-streaks.ts";
export { proxy, ReverseProxy } from "../proxy/proxy.ts";
export type { ProxyEngine, ProxyOptions } from "../proxy/proxy-options.ts";
export { Targets, type TargetsOptions } from "../proxy/targets.ts";
