/**
 * Server apart from its views: limits, logs, metrics, and the middleware for express.
 *
 * @module
 */

export type { CoreOptions, ReadyCheck } from "../core.ts";
export { type MiddlewareOptions, type VirtualWorkspacesMiddleware, virtualWorkspaces } from "../express.ts";
export type { AuthenticationFailureLimits } from "../fairness/authentication-failures.ts";
export type { RequestLimits } from "../fairness/fairness-limits.ts";
export type { Intercept, InterceptedRequest } from "../hooks/intercept.ts";
export type { PageCredentials, PageRequest, Pages } from "../hooks/pages.ts";
export { AllowedOrigins } from "../listener/allowed-origins.ts";
export type { Listening, ListenOptions } from "../listener/listener.ts";
export type { RequestRecord } from "../observe/access.ts";
export type { Component } from "../observe/component-pages.ts";
export { type JsonLog, type JsonLogOptions, jsonLog } from "../observe/log/json-log.ts";
export { type Log, type LogRecord, warningLog } from "../observe/log/log.ts";
export type { LineTarget, LogFileOptions } from "../observe/log/target.ts";
export { sumOfMetrics } from "../observe/metrics/family.ts";
export { type Metrics, type MetricsOptions, metrics } from "../observe/metrics/metrics.ts";
export { processFamilies } from "../observe/metrics/server-families.ts";
export { panelFiles } from "../panel/check-panel.ts";
export { FileWatch } from "../util/file-watch.ts";
export { type MetricDistribution, type MetricFamily, type MetricSample, templateOf } from "../virtual-workspace.ts";
