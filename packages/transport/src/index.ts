/**
 * Bytes to and from another HTTP server: pools of connections, TLS, credentials, deadlines and limits. What the requests
 * mean is for the packages above.
 *
 * @module
 */

export {
  Backoff,
  type BackoffOptions,
  backoffDelay,
  type FailureTerms,
  type RetryPolicy,
  retry,
} from "./backoff.ts";
export { type Clock, LONGEST_TIMER, type SleepOptions, sleep, systemClock } from "./clock.ts";
export type { Credential, Credentials } from "./credentials.ts";
export { type Deadlines, defaultDeadlines } from "./deadlines.ts";
export { header, headerValues, type ResponseHeaders, warningsOf } from "./headers.ts";
export { hostOf } from "./host.ts";
export { type LineOptions, lines } from "./lines.ts";
export type { Outgoing, OutgoingUpgrade } from "./outgoing.ts";
export { isUpgraded, type StreamedResponse, type UpgradedResponse, type WholeResponse } from "./response.ts";
export type { UpstreamStats } from "./stats.ts";
export type { Dial, UpstreamTls } from "./tls.ts";
export { isTransportError, TransportError, type TransportErrorCode } from "./transport-error.ts";
export { Upstream, type UpstreamOptions } from "./upstream.ts";
