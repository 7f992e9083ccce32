/**
 * `true`: a SubjectAccessReview that skips the checks of required groups, of access to the workspace, and of maximal
 * permission policies. Heeded of `system:masters` only.
 */
export const DEEP_REVIEW_HEADER = "X-Kcp-Internal-Deep-SubjectAccessReview";

/** How a shard asks itself for discovery of `/api/v1` without what it adds. */
export const CORE_DISCOVERY_HEADER = "X-Kcp-Api-V1-Discovery-Passthrough";
