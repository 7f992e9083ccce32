/**
 * Virtual workspaces over other API servers: storages that forward, and authentication and authorization that ask elsewhere.
 *
 * @module
 */

export { type AccessAttributes, proxyVerb, type SelectorAttributes } from "./delegated/access-attributes.ts";
export {
  type SubjectAccessReviewAuthorizer,
  type SubjectAccessReviewOptions,
  subjectAccessReview,
} from "./delegated/access-review.ts";
export type { ReviewOptions } from "./delegated/options.ts";
export type { ReviewStats } from "./delegated/stats.ts";
export { type TokenReviewAuthenticator, type TokenReviewOptions, tokenReview } from "./delegated/token-review.ts";
export { ForeignUpstream, type ForeignUpstreamOptions } from "./foreign/foreign-upstream.ts";
export { Forwarded, type ForwardedState, forward, type WritableForwarded } from "./forward.ts";
export type { ForwardOptions, Transform } from "./options.ts";
export { impersonated, type OutboundIdentity } from "./outbound/identity.ts";
export { type Peer, PeerGroup, type PeerGroupOptions, peerGroup } from "./peers/peer-group.ts";
export { reachable } from "./reads/readiness.ts";
export { Relay, type RelayOptions, relay } from "./relay/relay.ts";
export { sameCaller, type Workspaces } from "./workspaces.ts";
