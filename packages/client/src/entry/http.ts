/**
 * HTTP helpers of the client: errors, impersonation, cluster URLs.
 *
 * @module
 */

export { errorOf, onCode, retryAfterOf } from "../http/answer.ts";
export { splitCluster } from "../http/cluster-url.ts";
export {
  type CallerHeaders,
  type Impersonation,
  impersonationHeaders,
  REMOTE_HEADERS,
  remoteHeaders,
} from "../http/impersonation.ts";
export type { RetryOptions } from "../http/retry.ts";
