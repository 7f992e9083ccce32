/**
 * HTTP requests to other servers: connection pools, TLS, credentials, deadlines and limits. Higher packages define the
 * meaning of the requests.
 *
 * @module
 */

export type { Credential, Credentials } from "./calls/authentication.ts";
export { type ConnectionProblem, connectionProblem } from "./connection-problem.ts";
export {
  authoritiesIn,
  type CertificateAuthorities,
  type Dial,
  hostOf,
  trusted,
  type UpstreamTls,
} from "./connections/connector.ts";
export { type BodySink, type LineOptions, lines, type SinkControl } from "./http/body.ts";
export { header, headerValues, type ResponseHeaders, warningsOf } from "./http/headers.ts";
export type { InProcessCall, InProcessRequest, InProcessResponse, InProcessServer } from "./http/in-process.ts";
export {
  type Deadlines,
  defaultDeadlines,
  isUpgraded,
  type Outgoing,
  type OutgoingUpgrade,
  type StreamedResponse,
  type UpgradedResponse,
  type WholeResponse,
} from "./http/messages.ts";
export {} from "./node-check.ts";
export { aborted, onAbort, untilAborted } from "./time/abort.ts";
export { abortable } from "./time/abortable.ts";
export {
  Backoff,
  type BackoffOptions,
  backoffDelay,
  type FailureTerms,
  type RetryPolicy,
  retry,
} from "./time/backoff.ts";
export { Cancellation } from "./time/cancellation.ts";
export { type Clock, LONGEST_TIMER, type SleepOptions, sleep, systemClock, timerDelay } from "./time/clock.ts";
export { askedAfterNow, ListAndWatch, type ListerWatcher, type NextAttempt } from "./time/list-and-watch.ts";
export { Pace } from "./time/pace.ts";
export { isTransportError, TransportError, type TransportErrorCode } from "./transport-error.ts";
export { Upstream, type UpstreamOptions, type UpstreamStats } from "./upstream.ts";
