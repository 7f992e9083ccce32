/**
 * Virtual workspaces over other API servers: storages that forward requests, and delegated authentication and authorization.
 *
 * @module
 */

export { type AccessAttributes, proxyVerb, type SelectorAttributes } from "./delegated/access-attributes.ts";
export {
  type SubjectAccessReviewAuthorizer,
  type SubjectAccessReviewOptions,
  subjectAccessReview,
} from "./delegated/access-review.ts";
export {
  type AuthorizationWebhook,
  type AuthorizationWebhookOptions,
  authorizationWebhook,
} from "./delegated/authorization-webhook.ts";
export type { ReviewOptions } from "./delegated/review-options.ts";
export { type TokenReviewAuthenticator, type TokenReviewOptions, tokenReview } from "./delegated/token-review.ts";
export type { ReviewStats } from "./delegated/verdicts.ts";
export { Forwarded, type ForwardedState, forward, type WritableForwarded } from "./forward.ts";
export type { ForwardOptions, ShownRequest, Transform } from "./options.ts";
export { ForeignUpstream, type ForeignUpstreamOptions } from "./proxy/foreign-upstream.ts";
export { type Peer, PeerGroup, type PeerGroupOptions, peerGroup } from "./proxy/peer-group.ts";
export { Relay, type RelayOptions, relay } from "./proxy/relay.ts";
export { impersonated, type OutboundIdentity } from "./upstream/identity.ts";
export { reachable } from "./upstream/readiness.ts";
export { sameCaller, type Workspaces } from "./workspaces.ts";
